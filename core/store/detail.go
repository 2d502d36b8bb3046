package store

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// detailLife is how long a field that travels by reference is kept: longer than any retry.
const detailLife = 7 * 24 * time.Hour

// PutDetail keeps a field of an event that is too large for the bus. The id names its content, so repeating is harmless.
// Faults: Unavailable.
func (t Table) PutDetail(ctx context.Context, id, text string) error {
	return t.PutDetailUntil(ctx, id, text, t.now())
}

// PutDetailUntil is PutDetail for an event that is sent at a time to come: the field is kept past it. Faults: Unavailable.
func (t Table) PutDetailUntil(ctx context.Context, id, text string, at time.Time) error {
	k := key.Detail(id)
	expires := at.Add(detailLife).Unix()
	row, err := encode(k, "Detail", struct {
		ExpiresAt int64 `dynamodbav:"expiresAt"`
	}{expires})
	return t.Commit(ctx, Write{key: k, put: row, err: err}.withBody("text", text, 0, expires))
}

// Detail reads a field that PutDetail kept. Faults: NotFound, Unavailable.
func (t Table) Detail(ctx context.Context, id string) (string, error) {
	row, err := t.get(ctx, key.Detail(id))
	if err != nil {
		return "", err
	}
	if row == nil || expired(row, t.now()) {
		return "", fault.New(fault.NotFound, "no such detail")
	}
	return t.body(ctx, row, "text")
}
