package store

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// Continuation leads from a channel's key to its conversation.
type Continuation struct {
	SessionID string `dynamodbav:"sessionId"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// Continuation reads where a channel's key leads. Faults: NotFound, Unavailable.
func (t Table) Continuation(ctx context.Context, channel, token string) (Continuation, error) {
	var c Continuation
	found, err := t.getInto(ctx, key.Continuation(channel, token), &c)
	if err == nil && (!found || c.ExpiresAt <= t.now().Unix()) {
		err = fault.New(fault.NotFound, "no such conversation")
	}
	return c, err
}

// PutContinuation is the write that makes a channel's key lead to a conversation, instead of where it led as it was read; the zero
// value: nowhere.
func (t Table) PutContinuation(channel, token string, was, to Continuation) Write {
	w := create(key.Continuation(channel, token), "Continuation", to)
	if was.SessionID != "" {
		w.cond = new(cond.Eq("sessionId", was.SessionID))
	} else {
		w.cond = new(absentOrExpired(t.now().Unix()))
	}
	return w
}

// DropContinuation makes a channel's key lead nowhere, if it leads to the conversation. Idempotent. Faults: Unavailable.
func (t Table) DropContinuation(ctx context.Context, channel, token, sessionID string) error {
	err := t.Commit(ctx, Write{key: key.Continuation(channel, token), del: true, cond: new(cond.Eq("sessionId", sessionID))})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
