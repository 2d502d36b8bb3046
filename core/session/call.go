package session

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// ClaimCall makes owner the owner of a session that is at rest, for one tool call outside of any turn. Faults: NotFound (deleted),
// Conflict with reason session_busy: somebody works, something waits, a person is waited for, or a task session is over.
func (s State) ClaimCall(owner string, now time.Time) (Change, error) {
	switch {
	case s.Phase == Deleted:
		return Change{}, fault.New(fault.NotFound, "no such session")
	case !s.Free(now) || s.Phase != Idle || s.Pending() > 0:
		return Change{}, fault.New(fault.Conflict, "the session is busy").Because("session_busy")
	}
	to := s.due(now.Add(Lease + Margin)) // should the owner die
	to.Owner, to.LeaseUntil, to.Fence = owner, now.Add(Lease).UnixMilli(), s.Fence+1
	return Change{s, to, cond.And(free(now), cond.Eq("phase", Idle), nothingPending, cond.Eq("fence", s.Fence))}, nil
}

// HoldCall extends the lease: the part of STATE in the write of the mark of a call that must not run twice.
func (s State) HoldCall(me Me, now time.Time) Change {
	to := s
	to.LeaseUntil = now.Add(Lease).UnixMilli()
	return Change{s, to, s.calling(me)}
}

// EndCall records the call and gives the session up. It is refused when something waits.
func (s State) EndCall(me Me, p Progress) Change {
	return Change{s, s.moved(p).released().settled(), cond.And(s.calling(me), nothingPending)}
}

// HandOffCall records the call and leaves the session to whoever works on what waits. Publish the trigger after this is written.
func (s State) HandOffCall(me Me, p Progress, now time.Time) Change {
	return Change{s, s.moved(p).released().due(now), s.calling(me)}
}

func (s State) calling(me Me) cond.Expr { return cond.And(me.mine(), cond.Eq("phase", Idle)) }
