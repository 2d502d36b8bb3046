package flow

import (
	"context"
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// CreateTask starts a task for a verified caller.
type CreateTask struct {
	Edges
	Grants   Grants            // who may start a task as a system
	MCPHosts contract.MCPHosts // hosts that MCP servers may have
	Wait     time.Duration     // how long a caller who waits is kept, default 24 s: API Gateway gives up at 30 s
	Sleep    func(ctx context.Context, d time.Duration) error
}

// CreateTaskIn is what to do. System, if not empty, asks to run it as that system.
type CreateTaskIn struct {
	Caller     string // verified sub
	Request    string
	SessionID  string
	System     string
	MCPServers map[string]contract.MCPServer // instead of the session's; nil: those
	Wait       bool
}

// Do records the task and sends it to the bus; it waits for the result if asked and if it comes in time. Faults: Invalid, Denied
// (a system without a grant), Unavailable.
func (f CreateTask) Do(ctx context.Context, in CreateTaskIn) (task.Result, error) {
	r := task.Request{
		TaskID: f.NewID(), Principal: task.User(in.Caller), Request: in.Request, SessionID: in.SessionID, DeliveryID: "dlv_" + f.NewID(),
		MCPServers: in.MCPServers,
	}
	if in.System != "" {
		if !f.Grants.Allow(in.Caller, in.System) {
			return task.Result{}, fault.New(fault.Denied, "you may not start tasks as system %q", in.System)
		}
		r.Principal, r.CreatedBy = task.System(in.System), in.Caller
	}
	r.RootID = r.TaskID
	if err := r.Validate(0); err != nil {
		return task.Result{}, err
	}
	if err := contract.CheckMCPServers(r.MCPServers, f.MCPHosts); err != nil {
		return task.Result{}, err
	}
	created, err := racing(ctx, func() (task.Task, bool, error) {
		t, err := f.Table.CreateTask(ctx, r)
		return t, err == nil, err
	})
	if err != nil {
		return task.Result{}, err
	}
	f.send(ctx, created)
	if !in.Wait {
		return created.Result(), nil
	}
	return f.wait(ctx, created)
}

// send publishes a task that was just recorded; the sweep does it when this fails.
func (e Edges) send(ctx context.Context, t task.Task) {
	err := e.Bus.Publish(ctx, bus.Event{DetailType: contract.RunAgentTask, Detail: json.RawMessage(t.Detail)})
	if err != nil {
		e.log().WarnContext(ctx, "the task was not published, the sweep will", "task", t.TaskID, "error", err)
		return
	}
	d, err := e.Table.Dispatch(ctx, t.TaskID)
	if err == nil {
		err = e.Table.MarkSent(ctx, d)
	}
	if err != nil {
		e.log().WarnContext(ctx, "the task was published but not marked", "task", t.TaskID, "error", err)
	}
}

// wait polls the row, at first every 250 ms, then slower, up to every second.
func (f CreateTask) wait(ctx context.Context, t task.Task) (task.Result, error) {
	limit := f.Wait
	if limit == 0 {
		limit = 24 * time.Second
	}
	until := f.Now().Add(limit)
	for pause := 250 * time.Millisecond; f.Now().Add(pause).Before(until); pause = min(pause*5/4, time.Second) {
		if err := sleep(ctx, f.Sleep, pause); err != nil {
			break
		}
		now, err := f.Table.Task(ctx, t.TaskID)
		if err == nil && now.Final() {
			return now.Result(), nil
		}
		if err == nil {
			t = now
		}
	}
	return t.Result(), nil
}

// announce tells what a task came to and clears the debt. A failure leaves it to the sweep.
func (e Edges) announce(ctx context.Context, t task.Task) {
	if err := e.Announce(ctx, t); err != nil {
		e.log().WarnContext(ctx, "the completion was not published, the sweep will", "task", t.TaskID, "error", err)
	}
}

// Announce tells what a task came to and clears the debt. At least once. Faults: Invalid (rejected), Unavailable.
func (e Edges) Announce(ctx context.Context, t task.Task) error {
	if t.CompletionOwed == 0 {
		return nil
	}
	if err := e.Bus.EmitTaskCompleted(ctx, t); err != nil {
		return err
	}
	return e.Table.Announced(ctx, t)
}

// GetTask reads a task for its principal, or for the user who started it.
type GetTask struct{ Edges }

// TaskOf names a task and the verified caller.
type TaskOf struct{ TaskID, Caller string }

// Do reads the task. Faults: NotFound, also for a task of somebody else.
func (f GetTask) Do(ctx context.Context, in TaskOf) (task.Result, error) {
	t, err := f.visible(ctx, in)
	return t.Result(), err
}

func (e Edges) visible(ctx context.Context, in TaskOf) (task.Task, error) {
	if err := contract.CheckID("taskId", in.TaskID); err != nil {
		return task.Task{}, err
	}
	t, err := e.Table.Task(ctx, in.TaskID)
	if err == nil && !t.VisibleTo(in.Caller) {
		err = fault.New(fault.NotFound, "no such task")
	}
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// CancelTask ends a task for good.
type CancelTask struct{ Edges }

// Do cancels the task, together with the turn that runs it. Idempotent. Faults: NotFound, Conflict (already final), Unavailable.
func (f CancelTask) Do(ctx context.Context, in TaskOf) (task.Result, error) {
	return racing(ctx, func() (task.Result, bool, error) { return f.try(ctx, in) })
}

func (f CancelTask) try(ctx context.Context, in TaskOf) (task.Result, bool, error) {
	t, err := f.visible(ctx, in)
	if err != nil {
		return task.Result{}, false, err
	}
	change, ok := t.Cancel(f.Now())
	if !ok && t.Cancelled {
		return t.Result(), true, nil
	}
	if !ok {
		return task.Result{}, false, fault.New(fault.Conflict, "the task is %s already", t.Status).Because("final")
	}
	writes := []store.Write{store.ChangeTask(change)}
	if t.Bound() && t.Turn != 0 {
		s, err := f.Table.State(ctx, t.Session)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return task.Result{}, false, err
		}
		if stop, ok := s.StopTask(t.Turn, f.Now()); ok {
			writes = append(writes, store.ChangeState(stop))
		}
	}
	err = f.Table.Commit(ctx, writes...)
	if fault.Is(err, fault.Conflict) {
		return task.Result{}, false, nil
	}
	if err != nil {
		return task.Result{}, false, err
	}
	f.announce(ctx, change.To)
	if t.Bound() {
		f.wake(ctx, t.Session)
	}
	return change.To.Result(), true, nil
}
