package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// BindTask takes a delivery of "Run Agent Task". It runs nothing: in one transaction it gives the task to a session, whose next
// turn runs it, so that task, turn and lease cannot disagree.
type BindTask struct {
	Edges
	MaxDepth int               // how many tasks may start one another
	MCPHosts contract.MCPHosts // hosts that MCP servers may have; a task that names another fails
	Sleep    func(ctx context.Context, d time.Duration) error
}

// BindTaskIn is a delivery: the detail, and the id of the envelope it came in.
type BindTaskIn struct {
	Request    task.Request
	EnvelopeID string
}

// Do binds the task. A delivery that was taken before, or whose run has failed for good, changes nothing. An error means:
// deliver again. Faults: Unavailable, Invalid (it can never run and there is no row to say so in).
func (f BindTask) Do(ctx context.Context, in BindTaskIn) (task.Result, error) {
	if err := contract.CheckID("taskId", in.Request.TaskID); err != nil {
		return task.Result{}, err
	}
	if err := waitFor(ctx, f.Now(), f.Sleep, in.Request.NotBefore); err != nil {
		return task.Result{}, err
	}
	return racing(ctx, func() (task.Result, bool, error) { return f.try(ctx, in) })
}

// waitFor holds a request that came up to a minute and a half early: the scheduler keeps time to the minute.
func waitFor(ctx context.Context, now time.Time, instead func(context.Context, time.Duration) error, notBefore contract.Instant) error {
	at, err := notBefore.Time()
	if err != nil {
		return nil
	}
	d := at.Sub(now)
	if d <= 0 {
		return nil
	}
	if d > 90*time.Second {
		return fault.New(fault.Unavailable, "the task is due in %s", d.Round(time.Second))
	}
	return sleep(ctx, instead, d)
}

func (f BindTask) try(ctx context.Context, in BindTaskIn) (task.Result, bool, error) {
	r, d, now := in.Request, in.Request.Delivery(in.EnvelopeID), f.Now()
	t, err := f.Table.TaskOrNone(ctx, r.TaskID)
	if err != nil {
		return task.Result{}, false, err
	}
	if t.Status == task.Failed && t.CompletionOwed != 0 && !t.Cancelled && !t.FailedFor(d) {
		if err := f.Announce(ctx, t); err != nil { // no run passes over a completion that is owed
			return task.Result{}, false, fault.Wrap(fault.Unavailable, err, "announce task %s", r.TaskID)
		}
		return task.Result{}, false, nil
	}
	if !t.Claimable(d, now) {
		if t.Bound() {
			f.wake(ctx, t.Session)
		}
		return t.Result(), true, nil
	}
	detail, err := json.Marshal(r)
	if err != nil {
		return task.Result{}, false, fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	b := binding{BindTask: f, task: t, request: r, detail: string(detail), delivery: d, now: now}
	return b.decide(ctx)
}

// binding is one attempt to bind one task.
type binding struct {
	BindTask
	task     task.Task
	request  task.Request
	detail   string
	delivery string
	now      time.Time
}

func (b binding) decide(ctx context.Context) (task.Result, bool, error) {
	if err := b.request.Validate(b.MaxDepth); err != nil {
		return b.refuse(ctx, fault.Public(err))
	}
	if err := contract.CheckMCPServers(b.request.MCPServers, b.MCPHosts); err != nil {
		return b.refuse(ctx, fault.Public(err))
	}
	if b.task.Attempt >= task.MaxAttempts {
		return b.refuse(ctx, "attempts_exhausted")
	}
	if named := b.sessionID(); named != "" {
		return b.toNamed(ctx, named)
	}
	return b.toOwn(ctx)
}

func (b binding) sessionID() string {
	if b.task.SessionID != "" {
		return b.task.SessionID
	}
	return b.request.SessionID
}

func (b binding) principal() contract.Principal {
	if b.task.Principal.ID != "" {
		return b.task.Principal
	}
	return b.request.Principal
}

func (b binding) refuse(ctx context.Context, reason string) (task.Result, bool, error) {
	change := b.task.Refuse(b.request, b.detail, b.delivery, reason, b.now)
	err := b.Table.Commit(ctx, store.ChangeTask(change))
	if fault.Is(err, fault.Conflict) {
		return task.Result{}, false, nil
	}
	if err != nil {
		return task.Result{}, false, err
	}
	b.announce(ctx, change.To)
	return change.To.Result(), true, nil
}

// toNamed puts the task into the inbox of the session it names.
func (b binding) toNamed(ctx context.Context, sessionID string) (task.Result, bool, error) {
	s, err := b.Table.State(ctx, sessionID)
	if fault.Is(err, fault.NotFound) {
		return b.adoptNamed(ctx, sessionID)
	}
	if err != nil {
		return task.Result{}, false, err
	}
	if !b.mayUse(s) || s.Expired(b.now) {
		return b.refuse(ctx, "not your session")
	}
	admitted, err := s.AdmitTask(b.now)
	if err != nil {
		return b.refuse(ctx, fault.Public(err))
	}
	bound := b.task.Bind(b.request, b.detail, b.delivery, sessionID, s.ExpiresAt, b.now)
	return b.commit(ctx, bound, append(b.inbox(bound.To, admitted.To), store.ChangeState(admitted)))
}

// mayUse: a user's task uses the user's own sessions. A system is trusted to name a session of its own or a user's it works for.
func (b binding) mayUse(s session.State) bool { return s.Principal == b.principal() }

func (b binding) adoptNamed(ctx context.Context, sessionID string) (task.Result, bool, error) {
	err := b.adopt(ctx, sessionID, b.principal())
	switch {
	case fault.Is(err, fault.Denied):
		return b.refuse(ctx, "not your session")
	case fault.Is(err, fault.Invalid):
		return b.refuse(ctx, fault.Public(err))
	}
	return task.Result{}, false, err
}

// toOwn makes a session for the task alone. Its id says the run; one that an earlier life of the task has used up gets a
// random ending.
func (b binding) toOwn(ctx context.Context) (task.Result, bool, error) {
	id := contract.TaskSessionPrefix + b.request.TaskID
	if run := b.task.Fence + 1; run > 1 {
		id = fmt.Sprintf("%s.%d", id, run)
	}
	if _, err := b.Table.State(ctx, id); err == nil {
		id += "." + b.NewID()
	} else if !fault.Is(err, fault.NotFound) {
		return task.Result{}, false, err
	}
	s := session.New(id, session.TaskRun, b.principal(), b.now)
	s.CreatedBy = b.delivery
	s = s.With(b.now)
	bound := b.task.Bind(b.request, b.detail, b.delivery, id, s.ExpiresAt, b.now)
	writes := append(b.inbox(bound.To, s), store.NewState(s),
		store.NewEvents(id, session.Me{}, []contract.SessionEvent{started(s, b.now)}, expires(b.now)))
	return b.commit(ctx, bound, writes)
}

// inbox is the task's message in the session, with the delivery that makes it one.
func (b binding) inbox(bound task.Task, s session.State) []store.Write {
	id := fmt.Sprintf("task:%s:%d", bound.TaskID, bound.Fence)
	return []store.Write{
		store.NewDelivery(contract.Delivery{DeliveryID: id, SessionID: s.SessionID}, b.now.Unix(), b.now.Add(deliveryLife).Unix()),
		store.NewMessage(s.SessionID, store.Message{
			Number: s.Admitted, DeliveryID: id, Text: bound.Request, Admission: contract.Coalesce, At: b.now.UnixMilli(),
			Task: &session.TaskRef{ID: bound.TaskID, Fence: bound.Fence},
		}),
	}
}

func (b binding) commit(ctx context.Context, bound task.Change, writes []store.Write) (task.Result, bool, error) {
	err := b.Table.Commit(ctx, append([]store.Write{store.ChangeTask(bound)}, writes...)...)
	if fault.Is(err, fault.Conflict) {
		return task.Result{}, false, nil // it moved: read again
	}
	if err != nil {
		return task.Result{}, false, err
	}
	b.wake(ctx, bound.To.Session)
	return bound.To.Result(), true, nil
}
