package agency

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// ready waits for the time of a task, and heeds a pause before and after. If ok is false the delivery is over.
func (a *Agent) ready(ctx context.Context, j job) (over task.Result, ok bool, err error) {
	for waited := false; ; {
		paused, err := a.pause.on(ctx)
		if err != nil {
			return over, false, fmt.Errorf("is %s paused: %w", a.name, err)
		}
		if paused {
			over, err = a.paused(ctx, j)
			return over, false, err
		}
		left := j.due(a.now()).Sub(a.now())
		if waited || left <= 0 {
			return over, true, nil
		}
		waited = true
		if early, err := a.await(ctx, j.request, left); early || err != nil {
			return task.Result{TaskID: j.request.TaskID, Status: task.Pending}, false, err
		}
	}
}

// due is when the task is to run, not before now.
func (j job) due(now time.Time) time.Time {
	if at, ok := readTime(j.request.NotBefore); ok && at.After(now) {
		return at
	}
	return now
}

// soon is how long a delivery waits for the time of a delayed task; who sends it is not exact.
const soon = 2 * time.Minute

// await waits until a task is to run. early is true when that is too long to wait and its row will have it sent then.
func (a *Agent) await(ctx context.Context, r task.Request, left time.Duration) (early bool, err error) {
	switch {
	case left <= soon:
		err = pause(ctx, left)
	case a.store.Sweeps():
		_, err = a.store.CreateTask(ctx, r)
		early = true
	}
	if err != nil && !fault.Is(err, fault.Conflict) {
		return early, fmt.Errorf("wait for the time of %s: %w", r.TaskID, err)
	}
	return early, nil
}

// heldLook is how long after a pause a task that was held may still have to wait for the sweep.
const heldLook = 5 * time.Minute

// paused drops a task, or holds it: its row lives as long as the pause.
func (a *Agent) paused(ctx context.Context, j job) (task.Result, error) {
	r := j.request
	a.log.InfoContext(ctx, "paused", "task", r.TaskID)
	if a.onPause == DropTasks {
		return a.drop(ctx, j, "paused")
	}
	_, err := a.store.CreateTask(ctx, r)
	if err == nil || fault.Is(err, fault.Conflict) {
		err = a.store.KeepTask(ctx, r.TaskID, j.due(a.now()).Add(heldLook))
	}
	if err != nil {
		return task.Result{}, fmt.Errorf("hold %s: %w", r.TaskID, err)
	}
	return task.Result{TaskID: r.TaskID, Status: task.Pending}, nil
}

// drop gives a task up that has not begun; where a sweep would deliver it again, it ends.
func (a *Agent) drop(ctx context.Context, j job, reason string) (r task.Result, err error) {
	if r = rejected(j.request, reason); !a.store.Sweeps() {
		return r, nil
	}
	if err = a.claim(ctx, &j); err == nil {
		return a.finish(ctx, j, r)
	}
	if fault.Is(err, fault.Conflict) {
		return j.standing(), nil
	}
	return task.Result{}, err
}
