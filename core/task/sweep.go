package task

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
)

// Remedy is what the sweep does for a task that is due.
type Remedy string

// The remedies.
const (
	LeaveAlone Remedy = "leave"    // it moved on
	Announce   Remedy = "announce" // its completion is owed
	Resend     Remedy = "resend"   // its run is owed: send the stored request again
	GiveUp     Remedy = "give up"  // the bus refused it too often
)

// Sweep says what to do for a task found due. For Resend the change comes first and re-arms it; for GiveUp it is the end.
func (t Task) Sweep(now time.Time, backoff time.Duration) (Remedy, Change) {
	seen := cond.EqOrAbsent("dueSk", t.DueSK)
	lost := t.Status == Running && t.LeaseUntil != 0 && t.LeaseUntil < now.Add(-Margin).UnixMilli()
	waiting := t.Status == Pending || t.Status == Failed && t.Retryable
	switch {
	case t.DueSK == "":
		return LeaveAlone, Change{}
	case t.CompletionOwed != 0:
		return Announce, Change{t, t.due(now.Add(backoff)), seen}
	case (lost || waiting) && t.Rejects >= MaxAttempts:
		return GiveUp, t.exhaust(seen, now)
	case lost || waiting:
		return Resend, Change{t, t.due(now.Add(backoff)), seen}
	case t.Status == Running && t.LeaseUntil != 0:
		return LeaveAlone, Change{t, t.due(time.UnixMilli(t.LeaseUntil).Add(Margin)), seen}
	}
	return LeaveAlone, Change{t, t.undue(), seen}
}

func (t Task) exhaust(seen cond.Expr, now time.Time) Change {
	to := t.final(Failed, "", ReasonExhausted, t.Fence+1, now)
	to.Fence, to.FailedBy = t.Fence+1, t.failedBy(t.LastDelivery)
	return Change{t, to, cond.And(seen, cond.EqOrAbsent("fence", t.Fence), cond.Or(
		cond.Eq("status", Pending),
		cond.And(cond.Eq("status", Failed), cond.Eq("retryable", true)),
		cond.And(cond.Eq("status", Running), cond.Is("leaseUntil", cond.OpLt, now.Add(-Margin).UnixMilli()))))}
}

// Exhausted ends a task that waits and that the bus never took; LastDelivery names the delivery that is given up.
func (t Task) Exhausted(now time.Time) Change {
	return t.exhaust(cond.Eq("status", Pending), now)
}

// Rejected notes that the bus refused an entry. An unreachable bus notes nothing.
func (t Task) Rejected() Change {
	to := t
	to.Rejects++
	return Change{t, to, cond.EqOrAbsent("rejects", t.Rejects)}
}

// Backoff is the time before the n-th look at the same debt: 30 s, doubling, at most an hour.
func Backoff(n int64) time.Duration {
	return min(30*time.Second<<min(max(n, 0), 7), time.Hour)
}
