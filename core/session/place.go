package session

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
)

// lookAgain is after how long the sweep may look after a session that waits for a place, should nobody wake it.
const lookAgain = 5 * time.Second

// Place lets one turn run: a numbered row of a scope, lent to a session's owner for the length of a lease, so that a crash never
// keeps it.
type Place struct {
	Scope      string `dynamodbav:"scope"`
	Number     int    `dynamodbav:"number"` // from 1
	SessionID  string `dynamodbav:"sessionId"`
	Owner      string `dynamodbav:"owner"` // of the session
	Fence      int64  `dynamodbav:"fence"`
	LeaseUntil int64  `dynamodbav:"leaseUntil"` // ms
	ExpiresAt  int64  `dynamodbav:"expiresAt"`  // s
}

// Lent is the place as it is when a session's owner has it from now on.
func (p Place) Lent(sessionID string, me Me, now time.Time) Place {
	until := now.Add(Lease)
	return Place{p.Scope, p.Number, sessionID, me.Owner, me.Fence, until.UnixMilli(), until.Add(24 * time.Hour).Unix()}
}

// Free reports whether anybody may have the place.
func (p Place) Free(now time.Time) bool { return p.LeaseUntil < now.Add(-Margin).UnixMilli() }

// May is the condition on the row under which p may be written: it is free, or an earlier owner of the same session has it.
func (p Place) May(now time.Time) cond.Expr {
	return cond.Or(cond.Absent("pk"), cond.Is("leaseUntil", cond.OpLt, now.Add(-Margin).UnixMilli()),
		cond.And(cond.Eq("sessionId", p.SessionID), cond.Is("fence", cond.OpLe, p.Fence)))
}

// Mine is the condition that the place is still its owner's.
func (p Place) Mine() cond.Expr {
	return cond.And(cond.Eq("owner", p.Owner), cond.Eq("fence", p.Fence))
}

// Waiter is a session that waits for a place of a scope.
type Waiter struct {
	Scope     string `dynamodbav:"scope"`
	SessionID string `dynamodbav:"sessionId"`
	Since     int64  `dynamodbav:"since"`     // ms
	ExpiresAt int64  `dynamodbav:"expiresAt"` // s
}

// Line is a scope as it was read: its places, and the sessions that wait for one, the oldest first.
type Line struct {
	Scope   string
	Max     int // turns at once
	Places  []Place
	Waiters []Waiter
}

// Has reports whether the session has a place.
func (l Line) Has(sessionID string, now time.Time) bool {
	for _, p := range l.Places {
		if p.SessionID == sessionID && !p.Free(now) {
			return true
		}
	}
	return false
}

// Vacant gives the places that may be lent. Where the maximum was lowered, what still runs counts.
func (l Line) Vacant(now time.Time) []Place {
	taken := map[int]bool{}
	for _, p := range l.Places {
		if !p.Free(now) {
			taken[p.Number] = true
		}
	}
	var vacant []Place
	for n := 1; n <= l.Max && len(vacant) < l.Max-len(taken); n++ {
		if !taken[n] {
			vacant = append(vacant, Place{Scope: l.Scope, Number: n})
		}
	}
	return vacant
}

// Position is where a session that waits since then, in ms, stands in the line, from 1.
func (l Line) Position(sessionID string, since int64) int {
	n := 1
	for _, w := range l.Waiters {
		if w.SessionID != sessionID && (w.Since < since || w.Since == since && w.SessionID < sessionID) {
			n++
		}
	}
	return n
}

// Turn gives the place that a session may have: the one that it has, or a vacant one that none of those before it in the line is to
// get. ok is false when it has to wait.
func (l Line) Turn(sessionID string, since int64, now time.Time) (p Place, ok bool) {
	for _, p := range l.Places {
		if p.SessionID == sessionID && !p.Free(now) {
			return p, true
		}
	}
	vacant, ahead := l.Vacant(now), l.Position(sessionID, since)-1
	if ahead >= len(vacant) {
		return Place{}, false
	}
	return vacant[ahead], true
}

// Waits reports whether s stands in the line as w says.
func (s State) Waits(w Waiter, now time.Time) bool {
	return s.Queued && s.QueuedAt == w.Since && s.QueuedIn == w.Scope && s.Work(now)
}

// Standing reports whether all that s needs is a place: nothing tells its turn to end, and no message that waits is to be cancelled.
func (s State) Standing() bool {
	switch s.Phase {
	case Open:
		return s.Queued && !s.Stopped() && !s.Preempted()
	case Idle:
		return s.Queued && s.StopSeq <= s.Taken
	}
	return false
}

// Wait gives the session up until it may have a place. It is refused when there is something else to do.
func (s State) Wait(me Me, w Waiter, p Progress, now time.Time) Change {
	to := s.moved(p).released().due(now.Add(lookAgain))
	to.Tries, to.Queued, to.QueuedAt, to.QueuedIn = 0, true, w.Since, w.Scope
	conds := []cond.Expr{me.mine(), cond.Eq("phase", s.Phase), cond.Eq("taken", s.Taken), cond.Eq("stopSeq", s.StopSeq)}
	if s.Phase == Open {
		conds = append(conds, notStopped, notPreempted)
	}
	return Change{s, to, cond.And(conds...)}
}

// Waiter is how the session stands in a scope's line: since it began to wait for any, or at the end.
func (s State) Waiter(scope string, now time.Time) Waiter {
	w := Waiter{Scope: scope, SessionID: s.SessionID, Since: s.QueuedAt, ExpiresAt: now.Add(Life).Unix()}
	if !s.Queued {
		w.Since = now.UnixMilli()
	}
	return w
}

// served takes the session out of the line.
func (s State) served() State {
	s.Queued, s.QueuedAt, s.QueuedIn = false, 0, ""
	return s
}
