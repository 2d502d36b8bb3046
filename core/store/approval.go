package store

import (
	"context"
	"encoding/json"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

const approvalEntity = "Approval"

// NewApproval is the write of a call that waits for a person, with its input; refused if the call has one.
func NewApproval(a session.Approval, input json.RawMessage) Write {
	return create(key.Approval(a.SessionID, a.ActionID), approvalEntity, a).withBody("input", string(input), 0, a.ExpiresAt)
}

// NewExecution is the write of the mark of a call that must not run twice, refused if the call has one.
func NewExecution(a session.Approval) Write {
	return create(key.Approval(a.SessionID, a.ActionID), approvalEntity, a)
}

// ChangeApproval is the write of an approval's transition.
func ChangeApproval(c session.ApprovalChange) Write {
	return change(key.Approval(c.To.SessionID, c.To.ActionID), c.From, c.To, c.If)
}

// Approval reads a call's approval or mark, consistently. Faults: NotFound, Unavailable.
func (t Table) Approval(ctx context.Context, sessionID, actionID string) (session.Approval, error) {
	var a session.Approval
	found, err := t.getInto(ctx, key.Approval(sessionID, actionID), &a)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "no such approval")
	}
	return a, err
}

// Approvals are those of a session that people were asked for, the oldest first. Faults: Unavailable.
func (t Table) Approvals(ctx context.Context, sessionID string) ([]contract.Approval, error) {
	all := []contract.Approval{}
	for row, err := range t.query(ctx, scope{pk: key.SessionPK(sessionID), keys: prefix(key.ApprovalPrefix)}) {
		if err != nil {
			return nil, err
		}
		var a session.Approval
		if err := decode(row, &a); err != nil {
			return nil, err
		}
		if a.RequestedAt == 0 || expired(row, t.now()) { // a mark that needs nobody
			continue
		}
		input, err := t.body(ctx, row, "input")
		if err != nil {
			return nil, err
		}
		all = append(all, a.View(json.RawMessage(input)))
	}
	return all, nil
}
