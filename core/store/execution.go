package store

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

// Executing is the status of a call that was begun and must not be begun again.
const Executing = "executing"

// Execution is the mark of a call that must not run twice: the APPROVAL row of its id, as its owner leaves it before the call runs.
type Execution struct {
	Status    string `dynamodbav:"status"`
	Owner     string `dynamodbav:"owner"`
	Fence     int64  `dynamodbav:"fence"`
	Tool      string `dynamodbav:"tool"`
	StartedAt int64  `dynamodbav:"startedAt"` // ms
	ExpiresAt int64  `dynamodbav:"expiresAt"` // s
}

// By reports whether the mark is me's own.
func (e Execution) By(me session.Me) bool { return e.Owner == me.Owner && e.Fence == me.Fence }

// NewExecution is the write of the mark, refused if the call has one.
func NewExecution(sessionID, callID, tool string, me session.Me, now time.Time) Write {
	return create(key.Approval(sessionID, callID), "Approval", Execution{
		Status: Executing, Owner: me.Owner, Fence: me.Fence, Tool: tool, StartedAt: now.UnixMilli(), ExpiresAt: now.Add(session.RowLife).Unix(),
	})
}

// Execution reads the mark of a call, consistently. ok is false when it was never begun. Faults: Unavailable.
func (t Table) Execution(ctx context.Context, sessionID, callID string) (e Execution, ok bool, err error) {
	ok, err = t.getInto(ctx, key.Approval(sessionID, callID), &e)
	return e, ok && e.Status == Executing, err
}
