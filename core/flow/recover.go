package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Recover is the sweep: it finds what is owed and late, and does it or has it done. Every item is armed again by a conditional
// write before it is acted on, so sweeps that race do it once, and one that dies leaves it due.
type Recover struct {
	Edges
	Alarms   Alarms // nil: those of reminders whose session is purged are left to themselves
	PerShard int    // most items of one shard in one sweep, default 200
}

// Found counts what a sweep did, by remedy.
type Found map[string]int

// Late counts what a sweep had to send again because its time had come and nobody was at it. One or two are a worker that died or an
// event that was lost; a number that stays says that events do not arrive.
func (f Found) Late() int {
	return f["session "+string(session.Trigger)] + f["session "+string(session.Publish)] + f["task "+string(task.Announce)] +
		f["task "+string(task.Resend)] + f["dispatch sent"] + f["reminder"] + f["firing deliver"]
}

// sweepReserve is what of an invocation's time is left when a sweep begins with no further row.
const sweepReserve = 5 * time.Second

// Do sweeps once. One bad row does not keep the others waiting; what failed is in the error. Where there is more to do than time, each
// sweep begins with other rows than the one before, a minute ago. Faults: Unavailable.
func (f Recover) Do(ctx context.Context, _ struct{}) (Found, error) {
	found := Found{}
	limit := f.PerShard
	if limit == 0 {
		limit = 200
	}
	var failed error
	first := int(f.Now().Unix() / 60 % key.DueShards)
	for n := range key.DueShards {
		keys, err := f.Table.Due(ctx, (first+n)%key.DueShards, f.Now(), limit)
		if err != nil {
			return found, err
		}
		for _, k := range keys {
			if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < sweepReserve {
				f.log().WarnContext(ctx, "more is due than a sweep has time for: the next one goes on")
				return found, failed
			}
			remedy, err := f.one(ctx, k)
			if err != nil {
				f.log().ErrorContext(ctx, "sweep", "row", k.SK, "error", err)
				failed = fault.Wrap(fault.Unavailable, err, "sweep")
				found["failed"]++
				continue
			}
			found[remedy]++
		}
	}
	return found, failed
}

func (f Recover) one(ctx context.Context, k key.Key) (remedy string, err error) {
	row, ok := key.Parse(k)
	if !ok {
		return "unknown", nil
	}
	switch row.Kind {
	case "state":
		return f.session(ctx, row.Parts[0])
	case "task":
		return f.task(ctx, row.Parts[0])
	case "dispatch":
		return f.dispatch(ctx, row.Parts[0])
	case "firing", "reminder firing":
		return f.firing(ctx, k)
	case "budget hold":
		return f.hold(ctx, row.Parts[0], row.Parts[1])
	case "reminder":
		return f.reminder(ctx, row.Parts[0])
	}
	return "unknown", nil
}

// session looks after a session that is due.
func (f Recover) session(ctx context.Context, id string) (string, error) {
	s, err := f.Table.State(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return "leave", nil
	}
	if err != nil {
		return "", err
	}
	remedy, change := s.Sweep(f.Now(), max(time.Minute, task.Backoff(s.Tries)))
	if remedy == session.Forget { // before it is forgotten: what a late worker may have brought back goes
		if done, err := f.purgeFor(ctx, purgeShare, f.Alarms, s); !done || err != nil {
			return "session " + string(session.Purge), err
		}
	}
	if done, err := f.rearm(ctx, remedy != session.LeaveAlone, store.ChangeState(change)); done || err != nil {
		return "leave", err
	}
	switch remedy {
	case session.Purge:
		_, err = f.purgeFor(ctx, purgeShare, f.Alarms, s)
	case session.Publish:
		err = f.publishOwed(ctx, change.To)
	case session.Trigger:
		err = f.Bus.RunTurn(ctx, id)
	}
	return "session " + string(remedy), err
}

// hold counts the reservation of a call that died as spent.
func (f Recover) hold(ctx context.Context, scope, call string) (string, error) {
	gone, err := f.Table.SweepHold(ctx, scope, call)
	if err != nil || gone {
		return "leave", err
	}
	return "budget hold", nil
}

// rearm writes the change that comes first. done is true when somebody else was faster.
func (f Recover) rearm(ctx context.Context, needed bool, w store.Write) (done bool, err error) {
	if !needed {
		return true, nil
	}
	err = f.Table.Commit(ctx, w)
	if fault.Is(err, fault.Conflict) {
		return true, nil
	}
	return false, err
}

// task looks after a task that is due.
func (f Recover) task(ctx context.Context, id string) (string, error) {
	t, err := f.Table.TaskOrNone(ctx, id)
	if err != nil || t.Status == "" {
		return "leave", err
	}
	now := f.Now()
	remedy, change := t.Sweep(now, age(now, t.UpdatedAt))
	if done, err := f.rearm(ctx, change.To.TaskID != "", store.ChangeTask(change)); done || err != nil {
		return "leave", err
	}
	switch remedy {
	case task.Announce, task.GiveUp:
		err = f.tell(ctx, change.To)
	case task.Resend:
		err = f.resend(ctx, change.To)
	}
	return "task " + string(remedy), err
}

// tell announces what is owed. A completion that the bus will never take is not kept for ever.
func (f Recover) tell(ctx context.Context, t task.Task) error {
	err := f.Announce(ctx, t)
	if fault.ReasonOf(err) == bus.Rejected {
		f.log().ErrorContext(ctx, "the bus rejects a completion", "task", t.TaskID)
		return f.Table.Announced(ctx, t)
	}
	return err
}

// busOf speaks under the source that the task has.
func (f Recover) busOf(t task.Task) bus.Bus {
	b := f.Bus
	if t.Source != "" {
		b.Source = t.Source
	}
	return b
}

// notBefore is when a delayed task is to run; zero for any other.
func notBefore(t task.Task) time.Time {
	var r task.Request
	if json.Unmarshal([]byte(t.Detail), &r) != nil {
		return time.Time{}
	}
	at, _ := r.NotBefore.Time()
	return at
}

// resend delivers a task's stored request again, as the delivery it was.
func (f Recover) resend(ctx context.Context, t task.Task) error {
	var r task.Request
	if err := json.Unmarshal([]byte(t.Detail), &r); err != nil || t.Detail == "" {
		r = task.Request{TaskID: t.TaskID, Principal: t.Principal, Request: t.Request, SessionID: t.SessionID, CreatedBy: t.CreatedBy}
	}
	if t.LastDelivery != "" {
		r.DeliveryID = t.LastDelivery
	}
	err := f.busOf(t).Publish(ctx, bus.Event{DetailType: contract.RunAgentTask, Detail: r})
	if fault.ReasonOf(err) != bus.Rejected {
		return err
	}
	return f.Table.Commit(ctx, store.ChangeTask(t.Rejected()))
}

// dispatch looks after a task that is owed to the bus.
func (f Recover) dispatch(ctx context.Context, id string) (string, error) {
	d, err := f.Table.Dispatch(ctx, id)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && d.DueSK == "":
		return "leave", nil
	case err != nil:
		return "", err
	}
	t, err := f.Table.TaskOrNone(ctx, id)
	if err != nil {
		return "", err
	}
	if t.Status != task.Pending {
		return "dispatch arrived", f.Table.MarkSent(ctx, d)
	}
	now := f.Now()
	next := now.Add(age(now, d.CreatedAt))
	later := notBefore(t)
	if later.After(now) { // nobody took it as a delayed one: it is sent when it is to run
		next = later
	}
	if moved, err := f.Table.Rearm(ctx, d, next); moved || err != nil || next.Equal(later) {
		return "leave", err
	}
	d.DueSK = key.DueSK(next.UnixMilli())
	return f.dispatchOwed(ctx, d, t)
}

func (f Recover) dispatchOwed(ctx context.Context, d store.Dispatch, t task.Task) (string, error) {
	if d.Attempts >= task.MaxAttempts {
		t.LastDelivery = d.DeliveryID
		change := t.Exhausted(f.Now())
		arrived, err := f.Table.Exhaust(ctx, d, change)
		if err == nil && !arrived {
			f.announce(ctx, change.To)
		}
		return "dispatch exhausted", err
	}
	err := f.busOf(t).Publish(ctx, bus.Event{DetailType: contract.RunAgentTask, Detail: json.RawMessage(t.Detail)})
	if fault.ReasonOf(err) == bus.Rejected {
		return "dispatch rejected", f.Table.Reject(ctx, d)
	}
	if err != nil {
		return "", fmt.Errorf("send task %s: %w", d.TaskID, err)
	}
	return "dispatch sent", f.Table.MarkSent(ctx, d)
}

// age is how long to wait before the next look at a debt as old as this: as long as it has lasted, so that waits double; from
// 30 s to an hour.
func age(now time.Time, since int64) time.Duration {
	return min(max(now.Sub(time.UnixMilli(since)), 30*time.Second), time.Hour)
}
