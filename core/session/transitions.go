package session

import (
	"math"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Change is a transition: the state to be, and the condition on the row under which it may be written. Only the fields that
// differ from the state it was made from are written.
type Change struct {
	From, To State
	If       cond.Expr
}

// Me is an owner: a claim's token and the fence it got.
type Me struct {
	Owner string
	Fence int64
}

func (m Me) mine() cond.Expr { return cond.And(cond.Eq("owner", m.Owner), cond.Eq("fence", m.Fence)) }

func free(now time.Time) cond.Expr {
	return cond.Or(cond.Absent("owner"), cond.Is("leaseUntil", cond.OpLt, now.Add(-Margin).UnixMilli()))
}

func work(now time.Time) cond.Expr {
	return cond.Or(
		cond.Eq("phase", Open),
		cond.And(cond.Eq("phase", Idle), cond.Attrs("admitted", cond.OpGt, "taken")),
		cond.And(cond.Eq("phase", Parked), cond.Or(
			cond.Eq("approvalsOpen", 0),
			cond.Is("approvalUntil", cond.OpLt, now.UnixMilli()),
			cond.Attrs("stopSeq", cond.OpGe, "turnSeq"),
			cond.Attrs("preemptSeq", cond.OpGt, "seen"))))
}

var (
	nothingPending = cond.Attrs("admitted", cond.OpEq, "taken")
	notStopped     = cond.Attrs("stopSeq", cond.OpLt, "turnSeq")
	notPreempted   = cond.Attrs("preemptSeq", cond.OpLe, "seen")
	alive          = cond.In("phase", Idle, Open, Parked)
)

// Admit lets one message in. presented is the HTTP continuation token, nil on other ways in; token is the one that replaces
// it. Faults: NotFound (deleted), Conflict with reason task_session, stale_token or session_busy.
func (s State) Admit(a contract.Admission, presented *string, token string, now time.Time) (Change, error) {
	switch {
	case s.Phase == Deleted:
		return Change{}, fault.New(fault.NotFound, "no such session")
	case s.Mode != Chat || s.Phase == Done:
		return Change{}, fault.New(fault.Conflict, "a task session takes no follow-ups").Because("task_session")
	case presented != nil && *presented != s.Token:
		return Change{}, fault.New(fault.Conflict, "the continuation token is stale: read the session for the current one").Because("stale_token")
	case a == contract.Reject && (s.Phase != Idle || s.Pending() > 0):
		return Change{}, fault.New(fault.Conflict, "a turn is running").Because("session_busy")
	}
	to := s
	to.Admitted++
	to = to.due(now.Add(Lease + Margin)) // if its trigger is lost, or the owner that takes it dies at once
	conds := []cond.Expr{cond.Eq("mode", Chat), alive, cond.Eq("admitted", s.Admitted)}
	if a == contract.Preempt {
		to.PreemptSeq = to.Admitted
	}
	if presented != nil {
		to.Token = token
		conds = append(conds, cond.EqOrAbsent("token", *presented))
	}
	if a == contract.Reject {
		conds = append(conds, cond.Eq("phase", Idle), cond.Eq("taken", s.Admitted))
	}
	return Change{s, to, cond.And(conds...)}, nil
}

// AdmitTask lets a task's message in; it never interrupts. Faults: NotFound, Conflict (task_session).
func (s State) AdmitTask(now time.Time) (Change, error) {
	return s.Admit(contract.Coalesce, nil, "", now)
}

// StopTurn ends the open turn, or, when none is open, what is waiting now. ok is false when there is nothing to stop.
// Faults: NotFound.
func (s State) StopTurn(now time.Time) (c Change, ok bool, err error) {
	to := s.due(now)
	switch {
	case s.Phase == Deleted:
		return Change{}, false, fault.New(fault.NotFound, "no such session")
	case (s.Phase == Open || s.Phase == Parked) && s.StopSeq < s.TurnSeq:
		to.StopSeq = s.TurnSeq
		return Change{s, to, cond.And(cond.Eq("phase", s.Phase), cond.Eq("turnSeq", s.TurnSeq), cond.Is("stopSeq", cond.OpLt, s.TurnSeq))}, true, nil
	case s.Phase == Idle && s.Pending() > 0 && s.StopSeq < s.Admitted:
		to.StopSeq = s.Admitted
		return Change{s, to, cond.And(cond.Eq("phase", Idle), cond.Eq("taken", s.Taken), cond.Is("stopSeq", cond.OpLt, s.Admitted))}, true, nil
	}
	return Change{}, false, nil
}

// StopAll ends the open turn and cancels everything admitted so far. Faults: NotFound.
func (s State) StopAll(now time.Time) (c Change, ok bool, err error) {
	if s.Phase == Deleted {
		return Change{}, false, fault.New(fault.NotFound, "no such session")
	}
	busy := s.Pending() > 0 || s.Phase == Open || s.Phase == Parked
	if s.Phase == Done || !busy || s.StopSeq >= s.Admitted {
		return Change{}, false, nil
	}
	to := s.due(now)
	to.StopSeq = s.Admitted
	return Change{s, to, cond.And(alive, cond.Eq("admitted", s.Admitted), cond.Is("stopSeq", cond.OpLt, s.Admitted))}, true, nil
}

// StopTask stops the turn that runs a task, as part of the task's cancel. ok is false when STATE shows no such turn, or shows
// it as stopped.
func (s State) StopTask(turn int64, now time.Time) (c Change, ok bool) {
	if (s.Phase != Open && s.Phase != Parked) || s.TurnSeq != turn || s.StopSeq >= turn {
		return Change{}, false
	}
	to := s.due(now)
	to.StopSeq = turn
	return Change{s, to, cond.And(cond.In("phase", Open, Parked), cond.Eq("turnSeq", turn), cond.Is("stopSeq", cond.OpLt, turn))}, true
}

// Claim makes owner the session's owner under the next fence. owner is random for this attempt. ok is false when somebody
// holds the session or there is nothing to do: the trigger is dropped.
func (s State) Claim(owner string, now time.Time) (c Change, ok bool) {
	if !s.Free(now) || !s.Work(now) {
		return Change{}, false
	}
	to := s
	to.Owner, to.LeaseUntil, to.Fence, to.Tries = owner, now.Add(Lease).UnixMilli(), s.Fence+1, s.Tries+1
	if s.Phase == Parked {
		to.Phase = Open
	}
	return Change{s, to, cond.And(free(now), work(now), cond.Eq("phase", s.Phase), cond.Eq("fence", s.Fence))}, true
}

// Renew extends the lease.
func (s State) Renew(me Me, now time.Time) Change {
	to := s
	to.LeaseUntil = now.Add(Lease).UnixMilli()
	return Change{s, to, me.mine()}
}

// Release gives the session up when nothing is pending.
func (s State) Release(me Me) Change {
	to := s.released().settled()
	to.Tries = 0
	return Change{s, to, cond.And(me.mine(), cond.Eq("phase", Idle), nothingPending)}
}

// HandOff gives the session up with work left, for another owner to go on. used is what of the open turn is not counted yet. Publish the
// trigger after this is written, never before.
func (s State) HandOff(me Me, used Spent, now time.Time) Change {
	to := s.released().due(now)
	if s.Phase == Open {
		to.Spent = s.Spent.plus(used)
	}
	return Change{s, to, me.mine()}
}

// Alive changes nothing, under the condition that the session is not deleted: for rows beside it that must not outlive it.
func (s State) Alive() Change { return Change{s, s, cond.Is("phase", cond.OpNe, Deleted)} }

// Keep extends the session's life as a turn would, because something is still to come in it. ok is false for one that is deleted, or
// whose time is over.
func (s State) Keep(now time.Time) (c Change, ok bool) {
	to := s
	to.ExpiresAt = max(s.ExpiresAt, now.Add(Life).Unix())
	return Change{s, to, cond.And(cond.Is("phase", cond.OpNe, Deleted), cond.Eq("expiresAt", s.ExpiresAt))}, s.Phase != Deleted && !s.Expired(now)
}

// Delete turns the session into a tombstone that refuses everything. Rows are removed afterwards. ok is false when it is one.
func (s State) Delete(now time.Time) (c Change, ok bool) {
	if s.Phase == Deleted {
		return Change{}, false
	}
	to := s.released().due(now)
	to.Phase, to.Fence, to.Token, to.ExpiresAt = Deleted, s.Fence+1, "", now.Add(Tombstone).Unix()
	return Change{s, to, cond.And(cond.Exists("pk"), cond.Is("phase", cond.OpNe, Deleted), cond.Eq("fence", s.Fence),
		cond.Eq("taken", s.Taken), cond.Eq("phase", s.Phase))}, true // as read: the turn's task is to be finished
}

// Follow tells a running owner to look who follows. It changes nothing else.
func (s State) Follow(at int64) Change {
	to := s
	to.Followed = max(at, s.Followed+1)
	return Change{s, to, cond.And(cond.Exists("pk"), cond.Is("phase", cond.OpNe, Deleted))}
}

// Told is the index before which the log may be told again to those who follow from this state on: the rest is its owners' to tell. all
// says that there is no rest: the turn that is open has nobody who works on it, because it is parked or its owner died.
func (s State) Told(now time.Time) (before int64, all bool) {
	switch {
	case s.Phase == Open && !s.Free(now):
		return s.Prompt - 1, false // the event that opened it stands before its prompt
	case s.Phase == Open, s.Phase == Parked:
		return math.MaxInt64, true
	}
	return s.NextIndex, false
}

// Created notes which call configured the session, where a message had adopted it before that call.
func (s State) Created(by string) Change {
	to := s
	to.CreatedBy = by
	return Change{s, to, cond.And(
		cond.Eq("principal", s.Principal), cond.Absent("createdBy"), cond.Is("phase", cond.OpNe, Deleted))}
}
