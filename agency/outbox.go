package agency

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// outbox is how a defined type lets agents through: all gates of a task and the task itself are one write.
//
//	look at the rule's gates ──▶ reserve (gates + task + owed dispatch) ──▶ send ──▶ mark sent
//	        │ repeat ...               │ cooldown, repeat ...                 │ fails: owed, the sweep sends
type outbox struct{ a *Agent }

// paths chooses: the outbox where a sweep stands behind it, or a task may have to wait; else gate by gate.
type paths struct {
	outbox outbox
	plain  gateByGate
}

func (p paths) choose(at routing) passage {
	if p.outbox.a.store.Sweeps() || at.wake.WhenCooling == Defer {
		return p.outbox
	}
	return p.plain
}

func (p paths) enter(ctx context.Context, at routing) (Decision, error) {
	return p.choose(at).enter(ctx, at)
}

func (p paths) send(ctx context.Context, at routing, t AgentTask, gate Entry) (Decision, error) {
	return p.choose(at).send(ctx, at, t, gate)
}

// prefix keeps the gates of agent types apart where their ids are.
func (a *Agent) prefix() string {
	if a.ids == NamespacedIDs {
		return a.name
	}
	return ""
}

// enter looks at the gates of the rule as a whole, so that no agent is looked up in vain. What it sees decides nothing that the
// reservation does not decide again.
func (o outbox) enter(ctx context.Context, at routing) (Decision, error) {
	for i, e := range at.entries {
		p, taken, err := o.a.store.Look(ctx, o.a.prefix(), e.Slot)
		if err != nil {
			return Decision{}, fmt.Errorf("gate %s: %w", e.Slot, err)
		}
		if taken && !p.opens(e) {
			return Decision{Decision: shutBy(e), Until: p.until(e)}, nil
		}
		at.entries[i].mine = taken && p.Owner == e.Owner
	}
	return Decision{}, nil
}

func (o outbox) send(ctx context.Context, at routing, t AgentTask, gate Entry) (Decision, error) {
	d := Decision{AgentID: t.AgentID, Kind: at.kind}
	gates, err := o.gates(ctx, at, gate)
	if err != nil {
		return d, err
	}
	got, err := o.a.reserve(ctx, t, gates, nil)
	if err != nil {
		return d, err
	}
	if got.Shut != nil {
		return o.shut(ctx, at, t, gate, *got.Shut)
	}
	for i := range at.entries { // the other agents of the event find them passed
		at.entries[i].mine = at.entries[i].mine || !got.Before && !got.Other
	}
	d.Decision, d.TaskID, d.Delay = Requested, t.TaskID, t.Delay
	if !got.Owed && o.a.store.Sweeps() {
		d.Decision = AlreadyDispatched
		return d, nil
	}
	return d, o.a.send(ctx, t)
}

// gates are those of a task: the rule's and the agent's own. What is urgent leaves a gate that was passed ahead of time as it is, for a
// task waits for the end of its cooldown.
func (o outbox) gates(ctx context.Context, at routing, own Entry) ([]Entry, error) {
	if at.wake.Urgent {
		last, taken, err := o.a.store.Look(ctx, o.a.prefix(), own.Slot)
		if err != nil {
			return nil, fmt.Errorf("gate %s: %w", own.Slot, err)
		}
		if taken && last.At.After(at.now) {
			return at.entries, nil
		}
	}
	return append(slices.Clone(at.entries), own), nil
}

// shut says which gate was shut and until when, and defers if the rule asks for it.
func (o outbox) shut(ctx context.Context, at routing, t AgentTask, own, shut Entry) (Decision, error) {
	d := Decision{AgentID: t.AgentID, Kind: at.kind, Decision: Cooling}
	if shut.Slot != own.Slot {
		d.Decision = shutBy(shut)
	}
	last, taken, err := o.a.store.Look(ctx, o.a.prefix(), shut.Slot)
	if err != nil {
		return d, fmt.Errorf("gate %s: %w", shut.Slot, err)
	}
	if taken && shut.Slot == own.Slot && at.wake.WhenCooling == Defer {
		return o.wait(ctx, at, t, own, last)
	}
	if taken {
		d.Until = last.until(shut)
	}
	return d, nil
}

// wait reserves one task at the end of a cooldown. The gate is passed ahead of time, so that there is one such task and the next
// cooldown begins with it.
func (o outbox) wait(ctx context.Context, at routing, t AgentTask, own Entry, last Passed) (Decision, error) {
	d := Decision{AgentID: t.AgentID, Kind: at.kind, Decision: Deferred, TaskID: last.Owner, Delay: last.At.Sub(at.now)}
	if last.At.After(at.now) { // a task waits already
		return d, nil
	}
	t.RunAt = last.At.Add(*own.Window)
	t.Delay = max(0, t.RunAt.Sub(at.now))
	own.Owner, own.Now, own.as = t.TaskID, t.RunAt, &last
	d.TaskID, d.Delay = t.TaskID, t.Delay
	got, err := o.a.reserve(ctx, t, append(slices.Clone(at.entries), own), nil)
	if err != nil {
		return d, err
	}
	if got.Shut != nil { // somebody passed or deferred meanwhile
		d.TaskID, d.Delay, d.Decision = "", 0, Cooling
		return d, nil
	}
	if !got.Owed && o.a.store.Sweeps() {
		return d, nil
	}
	return d, o.a.send(ctx, t)
}

// reserve writes a task with all that belongs to it.
func (a *Agent) reserve(ctx context.Context, t AgentTask, gates []Entry, documents []DocumentChange) (Reserved, error) {
	got, err := a.store.Reserve(ctx, Reservation{
		Request: a.request(t), Gates: gates, Prefix: a.prefix(), Documents: documents, Now: a.now(),
	})
	if err != nil {
		return got, fmt.Errorf("reserve %s: %w", t.TaskID, err)
	}
	return got, nil
}

// send sends a reserved task. Where a sweep sends what is owed, a failure is no error: the work is safe.
func (a *Agent) send(ctx context.Context, t AgentTask) error {
	err := a.dispatcher.Dispatch(ctx, t)
	if err == nil {
		err = a.store.Sent(ctx, t.TaskID)
	}
	if err != nil && a.store.Sweeps() {
		a.log.WarnContext(ctx, "dispatch_owed", "task", t.TaskID, "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("dispatch %s: %w", t.TaskID, err)
	}
	return nil
}

// request is a task as it is sent and stored.
func (a *Agent) request(t AgentTask) task.Request {
	r := t.TaskRequest()
	r.Source = a.source
	return r
}

// TaskRequest is the task as it is sent, for a Dispatcher that hands it to Deliver or to a bus of its own.
func (t AgentTask) TaskRequest() task.Request {
	r := task.Request{TaskID: t.TaskID, Principal: t.Principal, Request: t.Request, Trigger: &t.Trigger}
	if t.Delay > 0 {
		r.NotBefore = contract.At(t.RunAt.Round(time.Millisecond))
	}
	return r
}
