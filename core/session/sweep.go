package session

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
)

// Remedy is what the sweep does for a session that is due.
type Remedy string

// The remedies.
const (
	LeaveAlone Remedy = "leave"   // nothing: it moved on
	WaitOwner  Remedy = "wait"    // an owner lives: look again after its lease
	Purge      Remedy = "purge"   // deleted: remove its rows again
	Forget     Remedy = "forget"  // deleted long enough ago: a last purge, then only the tombstone stays
	Tidy       Remedy = "tidy"    // a dead owner left nothing to do
	Publish    Remedy = "publish" // its channel is owed events
	Trigger    Remedy = "trigger" // there is work: publish it again
)

// lastWorker is the longest life of a worker that began before a deletion.
const lastWorker = 16 * time.Minute

// Sweep says what to do for a session found due, and the conditional write that comes first. backoff is the time until it is
// looked at again.
func (s State) Sweep(now time.Time, backoff time.Duration) (Remedy, Change) {
	seen := cond.EqOrAbsent("dueSk", s.DueSK)
	again := Change{s, s.due(now.Add(backoff)), seen}
	switch {
	case s.DueSK == "":
		return LeaveAlone, Change{}
	case s.Phase == Deleted && s.deletedAt().Add(lastWorker).Before(now):
		return Forget, Change{s, s.undue(), seen}
	case s.Phase == Deleted:
		return Purge, again
	case !s.Free(now): // also in the margin after its lease: a trigger would find it held, and be used up
		return WaitOwner, Change{s, s.due(time.UnixMilli(s.LeaseUntil).Add(Margin)), seen}
	case s.Work(now):
		return Trigger, again
	case s.Phase == Parked && s.Owes():
		return Publish, Change{s, again.To, cond.And(seen, cond.Eq("phase", Parked))}
	case s.Owes() && (s.Phase == Done || s.Phase == Idle && s.Pending() == 0):
		return Publish, Change{s, again.To.released(), cond.And(seen, cond.Eq("fence", s.Fence), cond.Eq("phase", s.Phase), nothingPending, free(now))}
	case s.Phase == Parked: // until somebody decides, or nobody has in time
		return WaitOwner, Change{s, s.due(time.UnixMilli(s.ApprovalUntil + 1)), seen}
	case s.Phase == Idle && s.Pending() == 0 && s.Free(now):
		return Tidy, Change{s, s.released().undue(), cond.And(seen, cond.Eq("fence", s.Fence), cond.Eq("phase", Idle), nothingPending, free(now))}
	case s.Phase == Done:
		return Tidy, Change{s, s.released().undue(), cond.And(seen, cond.Eq("phase", Done))}
	}
	return WaitOwner, again
}

// deletedAt is when the tombstone was made.
func (s State) deletedAt() time.Time { return time.Unix(s.ExpiresAt, 0).Add(-Tombstone) }
