package session

import (
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
)

// Limits of what one turn's opening takes from the inbox.
const (
	maxTake      = 80          // messages: a transaction has 100 parts
	maxTakeBytes = 1024 * 1024 // of their text
)

// Waiting is an inbox row, as far as the rules need it.
type Waiting struct {
	Number int64
	Bytes  int
	Task   *TaskRef
}

// Opening says what a begin takes: messages From+1 to Cancelled get a notice, Cancelled+1 to To become a turn's prompt.
type Opening struct {
	From, Cancelled, To int64
	Task                *TaskRef // a task's message is taken alone
}

// Opens reports whether a turn begins at all.
func (o Opening) Opens() bool { return o.Cancelled < o.To }

// Plan says what to take from the inbox next. inbox holds the rows Taken < n <= Admitted as read in this state, in order;
// taskOver tells that the first row is of a task whose run has ended elsewhere. Faults: an inbox with a gap.
func (s State) Plan(inbox []Waiting, taskOver bool) (Opening, error) {
	if len(inbox) == 0 || inbox[0].Number != s.Taken+1 {
		return Opening{}, fmt.Errorf("session %s: message %d is not in the inbox", s.SessionID, s.Taken+1)
	}
	o := Opening{From: s.Taken, Task: inbox[0].Task}
	o.To = s.reach(inbox)
	o.Cancelled = min(max(s.Taken, s.StopSeq), o.To)
	if o.Task != nil && taskOver {
		o.Cancelled = o.To
	}
	return o, nil
}

// reach is the last number that may be taken together with the first.
func (s State) reach(inbox []Waiting) int64 {
	if inbox[0].Task != nil {
		return inbox[0].Number
	}
	to, bytes := s.Taken, 0
	for _, w := range inbox {
		bytes += w.Bytes
		if w.Number != to+1 || w.Number > s.Admitted || w.Number-s.Taken > maxTake || w.Task != nil || (to > s.Taken && bytes > maxTakeBytes) {
			break
		}
		to = w.Number
	}
	return to
}

// Progress is where the log and the history stand after a write.
type Progress struct {
	Tip       string
	NextIndex int64
	Prompt    int64 // index of the message.received of the turn that a begin opens
	Spent     Spent // what the step used that is saved
}

func (s State) moved(p Progress) State {
	s.NextIndex = p.NextIndex
	if p.Tip != "" {
		s.Tip = p.Tip
	}
	return s
}

// Begin takes what o says. It opens a turn unless all of it was cancelled; then a chat session stays idle and a task session
// is done.
func (s State) Begin(me Me, o Opening, p Progress, now time.Time) Change {
	to := s.moved(p)
	to.Taken, to.Tries, to.ExpiresAt = o.To, 0, now.Add(Life).Unix()
	switch {
	case o.Opens():
		to.Phase, to.TurnSeq, to.Seen, to.Task, to.Step, to.ApprovalsOpen = Open, o.To, s.Admitted, o.Task, 0, 0
		to.Prompt, to.Opening, to.Spent, to.Asked, to.Withheld = p.Prompt, p.Tip, Spent{}, false, false
		if to.Doubt.Opening == "" {
			to.Doubt = Doubt{p.Tip, p.Prompt}
		}
		to.LeaseUntil = now.Add(Lease).UnixMilli()
		to = to.served()
	case s.Mode == TaskRun:
		to = to.over("failed").released().settled().served()
	case o.To == s.Admitted:
		to = to.served()
	}
	return Change{s, to, cond.And(me.mine(), cond.Eq("phase", Idle), cond.Eq("taken", s.Taken), cond.Eq("stopSeq", s.StopSeq))}
}

func (s State) saving(me Me) cond.Expr {
	return cond.And(me.mine(), cond.Eq("phase", Open), cond.Eq("turnSeq", s.TurnSeq), cond.Eq("step", s.Step), cond.EqOrAbsent("tip", s.Tip))
}

// Save records one more step of the open turn: the calls a model asked for, or their results.
func (s State) Save(me Me, p Progress, now time.Time) Change {
	to := s.moved(p)
	to.Step, to.Tries, to.LeaseUntil, to.Spent, to.Doubt = s.Step+1, 0, now.Add(Lease).UnixMilli(), s.Spent.plus(p.Spent), Doubt{}
	return Change{s, to, s.saving(me)}
}

// SavePart records some results of a step whose other tools have yet to end.
func (s State) SavePart(me Me, p Progress, now time.Time) Change {
	c := s.Save(me, p, now)
	c.To.Step, c.To.Doubt = s.Step, s.Doubt
	return c
}

// Checkpoint puts a shorter history in the place of the open turn's, between two steps. p.Spent is what it cost to make.
func (s State) Checkpoint(me Me, p Progress, now time.Time) Change { return s.SavePart(me, p, now) }

// Take gives messages up to number upTo to the running turn at a boundary. A flagged turn takes none.
func (s State) Take(me Me, upTo int64, p Progress, now time.Time) Change {
	to := s.moved(p)
	to.Taken, to.LeaseUntil = upTo, now.Add(Lease).UnixMilli()
	return Change{s, to, cond.And(me.mine(), cond.Eq("phase", Open), cond.Eq("taken", s.Taken), notStopped, notPreempted)}
}

// TakesAtBoundary says up to which number a running turn may take messages between its steps: none in a task's turn, and never
// a task's message.
func (s State) TakesAtBoundary(inbox []Waiting) int64 {
	if s.Task != nil || len(inbox) == 0 || inbox[0].Task != nil {
		return s.Taken
	}
	return s.reach(inbox)
}

// over ends a task session.
func (s State) over(outcome string) State {
	s.Phase, s.Outcome = Done, outcome
	return s
}

func (s State) ended(p Progress, outcome string, now time.Time) State {
	to := s.moved(p).served()
	to.Phase, to.Tries, to.Task, to.Spent, to.Asked, to.Withheld, to.ExpiresAt = Idle, 0, nil, Spent{}, false, false, now.Add(Life).Unix()
	if outcome == "completed" || s.Withheld {
		to.Doubt = Doubt{}
	}
	if s.Mode == TaskRun {
		to = to.over(outcome)
	}
	return to
}

// EndRelease ends the turn and gives the session up. It is refused when something waits or the turn was stopped. outcome is
// completed or failed.
func (s State) EndRelease(me Me, p Progress, outcome string, now time.Time) Change {
	return Change{s, s.ended(p, outcome, now).released().settled(), cond.And(s.ending(me), nothingPending, notStopped)}
}

// EndKeep ends the turn and keeps the session, for the messages that wait. It is refused when the turn was stopped.
func (s State) EndKeep(me Me, p Progress, outcome string, now time.Time) Change {
	return Change{s, s.ended(p, outcome, now), cond.And(s.ending(me), notStopped)}
}

// EndFlagged ends a turn that was stopped or preempted. A chat session is kept for what waits; a task session is done.
func (s State) EndFlagged(me Me, p Progress, now time.Time) Change {
	to := s.ended(p, "failed", now)
	if s.Mode == TaskRun {
		to = to.released().settled()
	}
	return Change{s, to, s.ending(me)}
}

func (s State) ending(me Me) cond.Expr {
	return cond.And(me.mine(), cond.Eq("phase", Open), cond.Eq("turnSeq", s.TurnSeq))
}
