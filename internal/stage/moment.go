package stage

import (
	"slices"

	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// session checks what holds for a session at any moment.
func (w *Watch) session(id string, r *rows) {
	s, was := r.state, w.sessions[id]
	w.sessions[id] = s
	if was.CreatedAt == s.CreatedAt && (s.Fence < was.Fence || s.Admitted < was.Admitted || s.Taken < was.Taken || s.NextIndex < was.NextIndex) {
		w.say("session %s: a number went back: %+v to %+v", id, was, s)
	}
	running := was.Phase == session.Open && s.Phase == session.Open && was.TurnSeq == s.TurnSeq && was.CreatedAt == s.CreatedAt
	if running && s.Taken > was.Taken && (was.Stopped() || was.Preempted()) {
		w.say("session %s: %s took a message although it was to end", id, s.TurnID())
	}
	if (s.Work(w.Now()) || s.Owner != "") && (s.DueSK == "" || s.DuePK == "") {
		w.say("session %s has work or an owner, and no due time: %+v", id, s)
	}
	if s.Phase == session.Deleted {
		return
	}
	if s.Phase == session.Open || s.Phase == session.Parked {
		turn := id + " " + s.TurnID()
		w.flagged[turn], w.hurried[turn] = w.flagged[turn] || s.Stopped(), w.hurried[turn] || s.Preempted()
	}
	w.stopped[id] = max(w.stopped[id], s.StopSeq)
	for n := s.Taken + 1; n <= s.StopSeq; n++ {
		w.doomed[numbered(id, n)] = true
	}
	w.inbox(id, s, r.inbox)
	w.log(id, s, r.events)
}

// inbox: exactly the messages that no turn has taken.
func (w *Watch) inbox(id string, s session.State, inbox []store.Message) {
	want := s.Taken
	for _, m := range inbox {
		w.numbers[id+" "+m.DeliveryID] = m.Number
		if want++; m.Number != want {
			w.say("session %s: message %d in the inbox where %d belongs", id, m.Number, want)
			return
		}
	}
	if want != s.Admitted {
		w.say("session %s: the inbox ends with message %d, %d is admitted", id, want, s.Admitted)
	}
}

// log: no gap, and fences never go down.
func (w *Watch) log(id string, s session.State, events []store.EventRow) {
	next, fence := int64(0), int64(0)
	for _, e := range events {
		if e.Index != next {
			w.say("session %s: events at index %d where %d belongs", id, e.Index, next)
			return
		}
		if e.Fence < fence {
			w.say("session %s: events %d have fence %d after %d", id, e.Index, e.Fence, fence)
		}
		next, fence = e.Index+e.Count, e.Fence
	}
	if s.NextIndex > next {
		w.say("session %s: the state says event %d is next, the log ends before %d", id, s.NextIndex, next)
	}
}

// task checks what holds for a task at any moment.
func (w *Watch) task(id string, row attr.Item, sessions map[string]*rows) {
	t := decode(row, &task.Task{})
	was := w.tasks[id]
	w.tasks[id] = t
	if (was.Status == task.Completed || was.Cancelled) && (t.Status != was.Status || t.Cancelled != was.Cancelled || t.Output != was.Output || t.Error != was.Error) {
		w.say("task %s: %s (cancelled %t) %s became %s (cancelled %t) %s", id, was.Status, was.Cancelled, was.Error, t.Status, t.Cancelled, t.Error)
	}
	if was.CompletionOwed != 0 && t.CompletionOwed != was.CompletionOwed && t.Fence != was.Fence {
		w.say("task %s: run %d began over the owed completion of run %d", id, t.Fence, was.CompletionOwed)
	}
	owes := t.CompletionOwed != 0 || t.Status == task.Pending || t.LeaseUntil != 0 || t.Retryable
	if owes && (t.DueSK == "" || t.DuePK == "") {
		w.say("task %s owes something and has no due time: %+v", id, t)
	}
	if t.Bound() {
		w.bound(id, t, sessions[t.Session])
	}
}

// running: a turn whose task is over is to end.
func (w *Watch) running(id string, s session.State) {
	if s.Phase != session.Open && s.Phase != session.Parked || s.Task == nil {
		return
	}
	if t := w.tasks[s.Task.ID]; (t.Status != task.Running || t.Fence != s.Task.Fence) && !s.Stopped() {
		w.say("session %s: %s goes on, and its task %s is %s, run %d", id, s.TurnID(), s.Task.ID, t.Status, t.Fence)
	}
}

// bound: a task that a session runs is in its inbox, or its turn is open.
func (w *Watch) bound(id string, t task.Task, r *rows) {
	ref := session.TaskRef{ID: id, Fence: t.Fence}
	switch {
	case r == nil || r.state.SessionID == "":
		w.say("task %s is bound to session %s, which is not there", id, t.Session)
	case r.state.Phase == session.Deleted: // the deletion ends it
	case r.state.Task != nil && *r.state.Task == ref:
	case !slices.ContainsFunc(r.inbox, func(m store.Message) bool { return m.Task != nil && *m.Task == ref }):
		w.say("task %s is bound to session %s, which knows nothing of it", id, t.Session)
	}
}
