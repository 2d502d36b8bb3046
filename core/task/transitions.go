package task

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/key"
)

// Change is a transition: the record to be, and the condition on the row under which it may be written. Only the fields that
// differ from the record it was made from are written.
type Change struct {
	From, To Task
	If       cond.Expr
}

// New is a task that waits for its run, which is owed from now on. detail is the request as it is sent.
func New(r Request, detail string, now time.Time) Task {
	t := Task{
		TaskID: r.TaskID, Status: Pending, Principal: r.Principal, Request: r.Request, SessionID: r.SessionID, CreatedBy: r.CreatedBy,
		CreatedAt: now.UnixMilli(), Detail: detail, LastDelivery: r.DeliveryID, Source: r.Source,
	}
	return t.touched(now).due(now.Add(time.Minute))
}

// fill takes over what the row does not say yet: a delivery may be the first that is heard of a task.
func (t Task) fill(r Request, detail string, now time.Time) Task {
	t.TaskID = r.TaskID
	if t.Principal.ID == "" {
		t.Principal = r.Principal
	}
	if t.Request == "" {
		t.Request = r.Request
	}
	if t.SessionID == "" {
		t.SessionID = r.SessionID
	}
	if t.CreatedBy == "" {
		t.CreatedBy = r.CreatedBy
	}
	if t.CreatedAt == 0 {
		t.CreatedAt = now.UnixMilli()
	}
	if t.Source == "" {
		t.Source = r.Source
	}
	t.Detail = detail
	return t
}

// Claimable reports whether a delivery may take the task up.
func (t Task) Claimable(delivery string, now time.Time) bool {
	switch {
	case t.FailedFor(delivery):
		return false
	case t.Status == "" || t.Status == Pending:
		return true
	case t.Status == Running:
		return t.LeaseUntil != 0 && t.LeaseUntil < now.Add(-Margin).UnixMilli()
	}
	return t.Status == Failed && !t.Cancelled && t.CompletionOwed == 0
}

func claimable(delivery string, now time.Time) cond.Expr {
	return cond.And(
		cond.Or(cond.Absent("failedBy"), cond.Not(cond.Contains("failedBy", delivery))),
		cond.Or(
			cond.Absent("pk"),
			cond.Eq("status", Pending),
			cond.And(cond.Eq("status", Running), cond.Is("leaseUntil", cond.OpLt, now.Add(-Margin).UnixMilli())),
			cond.And(cond.Eq("status", Failed), cond.Absent("cancelled"), cond.Absent("completionOwed"))))
}

// taken is the record of a run that has just begun.
func (t Task) taken(delivery string, now time.Time) Task {
	t.Status, t.Fence, t.Attempt, t.LastDelivery = Running, t.Fence+1, t.Attempt+1, delivery
	t.Session, t.Turn, t.Retryable, t.Error, t.Output, t.OutputParts, t.Rejects, t.Usage = "", 0, false, "", "", 0, 0, nil
	t.UpdatedAt = now.UnixMilli()
	return t
}

// Claim makes owner, random for this attempt, the one that runs the task, until its lease ends. It is for handlers that run
// the task themselves.
func (t Task) Claim(r Request, detail, delivery, owner string, lease time.Duration, now time.Time) Change {
	to := t.fill(r, detail, now).taken(delivery, now).touched(now).due(now.Add(lease))
	to.Owner, to.LeaseUntil = owner, now.Add(lease).UnixMilli()
	return Change{t, to, cond.And(claimable(delivery, now), cond.EqOrAbsent("fence", t.Fence))}
}

// Bind gives the task to a session: from now on the session's lease is the task's. expires is the session's own, in seconds.
func (t Task) Bind(r Request, detail, delivery, session string, expires int64, now time.Time) Change {
	to := t.fill(r, detail, now).taken(delivery, now).undue()
	to.Session, to.Owner, to.LeaseUntil, to.ExpiresAt = session, "", 0, expires
	return Change{t, to, cond.And(claimable(delivery, now), cond.EqOrAbsent("fence", t.Fence))}
}

// Refuse ends a task that cannot run, before it runs.
func (t Task) Refuse(r Request, detail, delivery, reason string, now time.Time) Change {
	to := t.fill(r, detail, now).final(Failed, "", reason, t.Fence+1, now)
	to.Fence, to.FailedBy, to.LastDelivery = t.Fence+1, t.failedBy(delivery), delivery
	return Change{t, to, cond.And(claimable(delivery, now), cond.EqOrAbsent("fence", t.Fence))}
}

// final is the record of an ended run whose completion is owed.
func (t Task) final(status Status, output, reason string, owed int64, now time.Time) Task {
	t.Status, t.Output, t.Error, t.CompletionOwed = status, output, reason, owed
	t.Owner, t.LeaseUntil, t.Retryable, t.Usage = "", 0, false, nil
	return t.touched(now).due(now)
}

func (t Task) held() cond.Expr {
	return cond.And(cond.Eq("owner", t.Owner), cond.Eq("fence", t.Fence), cond.Eq("status", Running))
}

// Renew extends a handler's lease.
func (t Task) Renew(lease time.Duration, now time.Time) Change {
	to := t
	to.LeaseUntil = now.Add(lease).UnixMilli()
	return Change{t, to, t.held()}
}

// Finish ends a handler's run.
func (t Task) Finish(r Result, now time.Time) Change {
	to := t.final(r.Status, r.Output, r.Error, t.Fence, now)
	to.Usage = r.Usage
	if r.Status == Failed {
		to.FailedBy = t.failedBy(t.LastDelivery)
	}
	return Change{t, to, t.held()}
}

// GiveBack ends a handler's run that may succeed later: any delivery may take it up again.
func (t Task) GiveBack(reason string, backoff time.Duration, now time.Time) Change {
	to := t.touched(now).due(now.Add(backoff))
	to.Status, to.Error, to.Retryable, to.Owner, to.LeaseUntil = Failed, "Retrying: "+reason, true, "", 0
	return Change{t, to, t.held()}
}

// FinishTurn ends a run that a session's turn carried out; it is written together with the turn's end.
func (t Task) FinishTurn(status Status, output, reason string, now time.Time) Change {
	to := t.final(status, output, reason, t.Fence, now)
	if status == Failed {
		to.FailedBy = t.failedBy(t.LastDelivery)
	}
	return Change{t, to, t.mine()}
}

// OpenTurn notes which turn runs the task; it is written together with the turn's begin.
func (t Task) OpenTurn(turn int64) Change {
	to := t
	to.Turn = turn
	return Change{t, to, t.mine()}
}

// mine is the session's hold on a bound task.
func (t Task) mine() cond.Expr {
	return cond.And(cond.Eq("status", Running), cond.Eq("fence", t.Fence), cond.Eq("session", t.Session))
}

// Announced clears the debt of the completion that was told.
func (t Task) Announced() Change {
	to := t.undue()
	to.CompletionOwed = 0
	return Change{t, to, cond.Eq("completionOwed", t.CompletionOwed)}
}

// Cancel makes the task final as cancelled. ok is false when it is final already.
func (t Task) Cancel(now time.Time) (c Change, ok bool) {
	if t.Status != Pending && t.Status != Running && !(t.Status == Failed && t.Retryable) {
		return Change{}, false
	}
	to := t.final(Failed, "", ReasonCancelled, t.Fence+1, now)
	to.Fence, to.Cancelled = t.Fence+1, true
	return Change{t, to, cond.And(cond.EqOrAbsent("fence", t.Fence), cond.EqOrAbsent("turn", t.Turn), cond.Or(
		cond.Eq("status", Pending), cond.Eq("status", Running), cond.And(cond.Eq("status", Failed), cond.Eq("retryable", true))))}, true
}

// Claim names who claims a task, for which delivery and for how long.
type Claim struct {
	Owner      string // random for this attempt
	DeliveryID string
	Lease      time.Duration
}

// Keep is of a task that is held back for nobody knows how long: its row outlives the wait, and the sweep looks at it at the given time
// at the latest. ok is false where both are so already, or nothing waits.
func (t Task) Keep(at time.Time) (c Change, ok bool) {
	if t.Status != Pending && !(t.Status == Failed && t.Retryable) {
		return Change{}, false
	}
	to := t
	if to.ExpiresAt < at.Add(Life/2).Unix() {
		to.ExpiresAt = at.Add(Life).Unix()
	}
	if sk := key.DueSK(at.UnixMilli()); t.DueSK == "" || sk < t.DueSK {
		to = to.due(at)
	}
	return Change{t, to, cond.And(cond.EqOrAbsent("fence", t.Fence), cond.EqOrAbsent("dueSk", t.DueSK), cond.Or(
			cond.Eq("status", Pending), cond.And(cond.Eq("status", Failed), cond.Eq("retryable", true))))},
		to.ExpiresAt != t.ExpiresAt || to.DueSK != t.DueSK
}
