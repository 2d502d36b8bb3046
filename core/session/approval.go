package session

import (
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// ApprovalStatus says where a call that needs a person stands.
//
//	          approve                    right before it runs
//	pending ───────────▶ approved ──────────────────────────▶ executing
//	   │ deny               │
//	   ├────▶ denied        │ the turn ends first
//	   │ nobody answers     ▼
//	   ├────▶ expired      void
//	   │ the turn ends       ▲
//	   └─────────────────────┘
//
// A call that must not run twice and needs nobody begins as executing.
type ApprovalStatus string

// The statuses.
const (
	Pending   ApprovalStatus = "pending"
	Approved  ApprovalStatus = "approved"
	Denied    ApprovalStatus = "denied"
	Expired   ApprovalStatus = "expired"
	Void      ApprovalStatus = "void"
	Executing ApprovalStatus = "executing"
)

// ApprovalLife is how long a person has to decide where nothing else is said.
const ApprovalLife = 24 * time.Hour

// MaxReason is the longest reason of a decision, in bytes.
const MaxReason = 1000

// Approval is a parked call, or the mark of one that must not run twice.
type Approval struct {
	SessionID   string             `dynamodbav:"sessionId,omitempty"`
	ActionID    string             `dynamodbav:"actionId,omitempty"`
	TurnSeq     int64              `dynamodbav:"turnSeq,omitempty"`
	Tool        string             `dynamodbav:"tool"`
	Status      ApprovalStatus     `dynamodbav:"status"`
	RequestedAt int64              `dynamodbav:"requestedAt,omitempty"` // ms
	Until       int64              `dynamodbav:"until,omitempty"`       // ms
	DecidedAt   int64              `dynamodbav:"decidedAt,omitempty"`   // ms
	By          contract.Principal `dynamodbav:"by"`
	Reason      string             `dynamodbav:"reason,omitempty"`
	Told        bool               `dynamodbav:"told,omitempty"`  // the log says what became of it
	Owner       string             `dynamodbav:"owner,omitempty"` // whose call it is that executes
	Fence       int64              `dynamodbav:"fence,omitempty"`
	StartedAt   int64              `dynamodbav:"startedAt,omitempty"` // ms
	ResultAt    int64              `dynamodbav:"resultAt,omitempty"`  // index of its action.result, of a call that is known by its delivery id
	ExpiresAt   int64              `dynamodbav:"expiresAt"`           // s
}

// ApprovalChange is a transition: the row to be, and the condition under which it may be written.
type ApprovalChange struct {
	From, To Approval
	If       cond.Expr
}

// approvalEnds is how long one is kept after it has ended.
const approvalEnds = 24 * time.Hour

// Ask makes the approvals of calls that wait for a person, all until the same time.
func (s State) Ask(calls []contract.ActionCall, until, now time.Time) []Approval {
	all := make([]Approval, len(calls))
	for i, c := range calls {
		all[i] = Approval{
			SessionID: s.SessionID, ActionID: c.ID, TurnSeq: s.TurnSeq, Tool: c.Name, Status: Pending,
			RequestedAt: now.UnixMilli(), Until: until.UnixMilli(), ExpiresAt: now.Add(RowLife).Unix(),
		}
	}
	return all
}

// Decide records a person's verdict. known is true if the same person said the same before. Faults: Conflict (already_decided).
func (a Approval) Decide(v contract.Verdict, by contract.Principal, reason string, now time.Time) (c ApprovalChange, known bool, err error) {
	status := Denied
	if v == contract.Approve {
		status = Approved
	}
	said := a.Status == status || a.Status == Executing && status == Approved
	switch {
	case a.Status == Pending && a.Until < now.UnixMilli():
		return c, false, fault.New(fault.Conflict, "the time to decide is over").Because("already_decided")
	case a.Status == Pending:
		to := a
		to.Status, to.By, to.Reason, to.DecidedAt = status, by, reason, now.UnixMilli()
		return ApprovalChange{a, to, cond.Eq("status", Pending)}, false, nil
	case said && a.By == by:
		return c, true, nil
	}
	was := a.Status
	if was == Executing {
		was = Approved
	}
	return c, false, fault.New(fault.Conflict, "the call is %s already", was).Because("already_decided")
}

// Tell notes that the log says what became of the call: the verdict, or that nobody decided in time, or, where the turn is over, that it
// ended first. ok is false when there is nothing to say, or it was said before.
func (a Approval) Tell(over bool, now time.Time) (c ApprovalChange, ok bool) {
	to := a
	to.Told = true
	switch {
	case a.RequestedAt == 0 || a.Status == Executing && a.Told:
		return c, false
	case over && (a.Status == Pending || a.Status == Approved):
		to.Status = Void
	case a.Status == Pending && a.Until < now.UnixMilli():
		to.Status, to.DecidedAt = Expired, now.UnixMilli()
	case a.Status == Pending || a.Told:
		return c, false
	}
	if to.Status != Approved && to.Status != Executing {
		to.ExpiresAt = now.Add(approvalEnds).Unix()
	}
	return ApprovalChange{a, to, cond.And(cond.Eq("status", a.Status), cond.EqOrAbsent("told", a.Told))}, true
}

// Execute marks an approved call as executing. It is written before the call runs, so that it never runs twice.
func (a Approval) Execute(me Me, now time.Time) ApprovalChange {
	to := a
	to.Status, to.Owner, to.Fence, to.StartedAt, to.ExpiresAt = Executing, me.Owner, me.Fence, now.UnixMilli(), now.Add(Life).Unix() // no turn is open for longer
	return ApprovalChange{a, to, cond.Eq("status", Approved)}
}

// Executes is the mark of a call that needs nobody and must not run twice.
func Executes(sessionID string, call contract.ActionCall, me Me, now time.Time) Approval {
	return Approval{
		SessionID: sessionID, ActionID: call.ID, Tool: call.Name, Status: Executing, Owner: me.Owner, Fence: me.Fence, StartedAt: now.UnixMilli(),
		ExpiresAt: now.Add(RowLife).Unix(),
	}
}

// Finish notes where in the log the result of an executing call is.
func (a Approval) Finish(index int64) ApprovalChange {
	to := a
	to.ResultAt = index
	return ApprovalChange{a, to, cond.And(cond.Eq("status", Executing), cond.Eq("owner", a.Owner), cond.Eq("fence", a.Fence))}
}

// ExecutedBy reports whether the mark of an executing call is me's own.
func (a Approval) ExecutedBy(me Me) bool {
	return a.Status == Executing && a.Owner == me.Owner && a.Fence == me.Fence
}

// Resolved is the event that tells what became of the call.
func (a Approval) Resolved() contract.ApprovalResolved {
	status := a.Status
	if status == Executing {
		status = Approved
	}
	return contract.ApprovalResolved{ActionID: a.ActionID, Name: a.Tool, Decision: string(status), By: a.By.ID, Reason: a.Reason}
}

// View is the approval as its session's owner sees it.
func (a Approval) View(input json.RawMessage) contract.Approval {
	v := contract.Approval{
		ActionID: a.ActionID, SessionID: a.SessionID, TurnID: State{TurnSeq: a.TurnSeq}.TurnID(), Name: a.Tool, Input: input, Status: string(a.Status),
		RequestedAt: contract.At(time.UnixMilli(a.RequestedAt)), ExpiresAt: contract.At(time.UnixMilli(a.Until)), By: a.By.ID, Reason: a.Reason,
	}
	if a.DecidedAt != 0 {
		v.DecidedAt = contract.At(time.UnixMilli(a.DecidedAt))
	}
	return v
}

// Park gives the session up while calls of the open turn wait for people; open counts them. The session lives on after the longest wait as
// after a turn. A flagged turn does not park.
func (s State) Park(me Me, open int64, until time.Time, p Progress) Change {
	to := s.moved(p).released()
	to.Phase, to.Asked, to.ApprovalsOpen, to.ApprovalUntil, to.Tries = Parked, true, open, until.UnixMilli(), 0
	to.Spent, to.ExpiresAt = s.Spent.plus(p.Spent), max(s.ExpiresAt, until.Add(Life).Unix())
	to = to.due(until.Add(time.Millisecond))
	if soon := time.UnixMilli(s.LeaseUntil).Add(Margin); to.Owes() && soon.Before(until) { // should this owner not tell the channel
		to = to.due(soon)
	}
	return Change{s, to, cond.And(s.saving(me), notStopped, notPreempted)}
}

// Resolve counts a decision about a call of the parked turn.
func (s State) Resolve(turn int64, now time.Time) (c Change, ok bool) {
	to := s.due(now)
	to.ApprovalsOpen--
	return Change{s, to, cond.And(cond.Eq("phase", Parked), cond.Eq("turnSeq", turn), cond.Eq("approvalsOpen", s.ApprovalsOpen))},
		s.Phase == Parked && s.TurnSeq == turn && s.ApprovalsOpen > 0
}
