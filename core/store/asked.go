package store

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/key"
)

// askedLife is how long it is remembered what was asked last of a name: longer than the bus and a function retry.
const askedLife = 2 * 24 * time.Hour

// Asked is the last that was asked of a named event that is to come later: which event asked, when, and whether that is done.
type Asked struct {
	At        int64  `dynamodbav:"at"` // ms, by the bus's clock
	EventID   string `dynamodbav:"eventId"`
	Done      bool   `dynamodbav:"done"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// Ask notes what is asked of a name, unless it is done already or something later was asked since: then ok is false. Faults: Unavailable.
func (t Table) Ask(ctx context.Context, name, eventID string, at time.Time) (ok bool, err error) {
	k := key.Asked(name)
	w := create(k, "Asked", Asked{At: at.UnixMilli(), EventID: eventID, ExpiresAt: t.now().Add(askedLife).Unix()})
	w.cond = new(cond.Or(
		absentOrExpired(t.now().Unix()),
		cond.Is("at", cond.OpLt, at.UnixMilli()),
		cond.And(cond.Eq("at", at.UnixMilli()), cond.Is("eventId", cond.OpNe, eventID)),
		cond.And(cond.Eq("eventId", eventID), cond.Eq("done", false)),
	))
	err = t.Commit(ctx, w)
	if RefusedBy(err, k) {
		return false, nil
	}
	return err == nil, err
}

// Answered notes that what an event asked of a name is done. Idempotent. Faults: Unavailable.
func (t Table) Answered(ctx context.Context, name, eventID string) error {
	k := key.Asked(name)
	done, err := attribute(true)
	err = t.Commit(ctx, Write{key: k, set: item{"done": done}, cond: new(cond.Eq("eventId", eventID)), err: err})
	if RefusedBy(err, k) {
		return nil
	}
	return err
}
