package flow

import (
	"cmp"
	"context"
	"slices"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Approvals lets people decide on tool calls that wait for them.
type Approvals struct{ Edges }

// DecideIn is a person's verdict.
type DecideIn struct {
	SessionID string
	ActionID  string
	Caller    contract.Principal // who is verified, or who an app of the stack speaks for
	App       bool               // it came over the bus: the app has seen to it that its user may
	Verdict   contract.Verdict
	Reason    string
}

// Decide records a verdict, once: the first counts, and with the last one of a step the turn goes on. Said again by the same person it
// is answered as before. Faults: Invalid, NotFound, Denied, Conflict (already_decided), Unavailable.
func (f Approvals) Decide(ctx context.Context, in DecideIn) (contract.Approval, error) {
	if err := in.validate(); err != nil {
		return contract.Approval{}, err
	}
	return racing(ctx, func() (contract.Approval, bool, error) { return f.try(ctx, in) })
}

func (in DecideIn) validate() error {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return err
	}
	if err := contract.CheckID("actionId", in.ActionID); err != nil {
		return err
	}
	switch {
	case in.Verdict != contract.Approve && in.Verdict != contract.Deny:
		return fault.New(fault.Invalid, `decision: must be "approve" or "deny"`)
	case len(in.Reason) > session.MaxReason:
		return fault.New(fault.Invalid, "reason: %d bytes, the limit is %d", len(in.Reason), session.MaxReason)
	case in.Caller.ID == "":
		return fault.New(fault.Invalid, "by: must not be empty")
	}
	return nil
}

func (f Approvals) try(ctx context.Context, in DecideIn) (contract.Approval, bool, error) {
	s, err := f.decidable(ctx, in)
	if err != nil {
		return contract.Approval{}, false, err
	}
	a, err := f.Table.Approval(ctx, in.SessionID, in.ActionID)
	if err == nil && a.RequestedAt == 0 { // the mark of a call that nobody is asked about
		err = fault.New(fault.NotFound, "no such approval")
	}
	if err != nil {
		return contract.Approval{}, false, err
	}
	decided, known, err := a.Decide(in.Verdict, in.Caller, in.Reason, f.Now())
	if err != nil {
		return contract.Approval{}, false, err
	}
	if known {
		if s.Phase == session.Parked && s.ApprovalsOpen == 0 {
			f.wake(ctx, in.SessionID) // the call that decided may have died before it did
		}
		return a.View(nil), true, nil
	}
	parked, ok := s.Resolve(a.TurnSeq, f.Now())
	if !ok {
		return contract.Approval{}, false, fault.New(fault.Conflict, "the turn waits no more").Because("already_decided")
	}
	err = f.Table.Commit(ctx, store.ChangeApproval(decided), store.ChangeState(parked))
	switch {
	case fault.Is(err, fault.Conflict): // somebody else was faster, or the turn went on: read again
		return contract.Approval{}, false, nil
	case err != nil:
		return contract.Approval{}, false, err
	}
	if parked.To.ApprovalsOpen == 0 {
		f.wake(ctx, in.SessionID)
	}
	return decided.To.View(nil), true, nil
}

// decidable reads the session if the caller may decide there: its principal, who created its task, or a user that an app speaks for.
func (f Approvals) decidable(ctx context.Context, in DecideIn) (session.State, error) {
	s, err := f.Table.State(ctx, in.SessionID)
	switch {
	case err != nil:
		return s, err
	case s.Phase == session.Deleted:
		return s, fault.New(fault.NotFound, "no such session")
	case in.App || s.Principal == in.Caller:
		return s, nil
	}
	if s.Task != nil {
		t, err := f.Table.TaskOrNone(ctx, s.Task.ID)
		if err != nil {
			return s, err
		}
		if t.CreatedBy != "" && t.CreatedBy == in.Caller.ID {
			return s, nil
		}
	}
	return s, fault.New(fault.Denied, "not your session")
}

// List gives the calls of a session that people were asked about, the oldest first. Faults: Invalid, NotFound, Denied, Unavailable.
func (f Approvals) List(ctx context.Context, in SessionOf) (contract.Approvals, error) {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return contract.Approvals{}, err
	}
	if _, err := f.decidable(ctx, DecideIn{SessionID: in.SessionID, Caller: in.Caller}); err != nil {
		return contract.Approvals{}, err
	}
	all, err := f.Table.Approvals(ctx, in.SessionID)
	slices.SortStableFunc(all, func(a, b contract.Approval) int { return cmp.Compare(a.RequestedAt, b.RequestedAt) })
	return contract.Approvals{Approvals: all}, err
}
