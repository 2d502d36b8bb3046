package store

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/key"
)

// askedLife is how long it is remembered what was asked last of a name: longer than the bus and a function retry.
const askedLife = 2 * 24 * time.Hour

// Asked is the last that was asked of a named event that is to come later: which event asked, when, whether that is done, and who is at
// it until when.
type Asked struct {
	At        int64  `dynamodbav:"at"` // ms, by the bus's clock
	EventID   string `dynamodbav:"eventId"`
	Owner     string `dynamodbav:"owner"` // random for each worker
	Until     int64  `dynamodbav:"until"` // ms
	Done      bool   `dynamodbav:"done"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// Asking is what a worker is to do about a name: what the event with the id asked at a time.
type Asking struct {
	Name, EventID string
	At            time.Time
	Owner         string        // random for each worker
	Lease         time.Duration // within which it has done it, or given it up
}

// Turn says whether it is a worker's turn to do what was asked of a name.
type Turn string

// The turns.
const (
	TurnNow  Turn = "now"
	TurnPast Turn = "past" // it is done already, or something later was asked since
	TurnWait Turn = "wait" // another is at what was asked before, or at the same
)

// Ask notes what is asked of a name, if it is the worker's turn: workers take turns, so that what was asked last is done last. Faults:
// Unavailable.
func (t Table) Ask(ctx context.Context, a Asking) (Turn, error) {
	k, now, at := key.Asked(a.Name), t.now(), a.At.UnixMilli()
	w := create(k, "Asked", Asked{
		At: at, EventID: a.EventID, Owner: a.Owner, Until: now.Add(a.Lease).UnixMilli(), ExpiresAt: now.Add(askedLife).Unix(),
	})
	over := cond.Or(cond.Absent("until"), cond.Is("until", cond.OpLt, now.UnixMilli())) // there is none in rows from before workers took turns
	w.cond = new(cond.Or(
		absentOrExpired(now.Unix()),
		cond.Eq("owner", a.Owner),
		cond.And(cond.Is("at", cond.OpLt, at), cond.Or(cond.Eq("done", true), over)),
		cond.And(cond.Eq("at", at), cond.Is("eventId", cond.OpNe, a.EventID), cond.Or(cond.Eq("done", true), over)),
		cond.And(cond.Eq("eventId", a.EventID), cond.Eq("done", false), over),
	))
	err := t.Commit(ctx, w)
	if !RefusedBy(err, k) {
		return TurnNow, err
	}
	var there Asked
	if r, ok := refusal(err); ok {
		if err := decode(r.rows[k], &there); err != nil {
			return "", err
		}
	}
	if there.At > at || there.EventID == a.EventID && there.Done {
		return TurnPast, nil
	}
	return TurnWait, nil
}

// Answered notes that a worker has done what was asked of a name, unless another has taken its turn since. Idempotent. Faults: Unavailable.
func (t Table) Answered(ctx context.Context, name, owner string) error {
	k := key.Asked(name)
	done, err := attribute(true)
	err = t.Commit(ctx, Write{key: k, set: item{"done": done}, cond: new(cond.Eq("owner", owner)), err: err})
	if RefusedBy(err, k) {
		return nil
	}
	return err
}
