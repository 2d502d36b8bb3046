package agency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// guarded runs everything after the claim, with the lease renewed.
func (a *Agent) guarded(ctx context.Context, j job, run runner) (end outcome, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go a.renew(ctx, stop, j)
	defer recovered(&err, "the run")
	if end, err = run(ctx, j); err != nil {
		err, _ = j.ended(ctx, err)
	}
	return end, err
}

// errLeaseOver ends a run whose claim could not be renewed in time.
var errLeaseOver = fault.New(fault.Unavailable, "the lease could not be renewed in time")

// renew keeps the claim while the run lasts. A claim that is lost ends the run, and so does one that is about to end by this process's
// own clock: from then on another may run the task.
func (a *Agent) renew(ctx context.Context, stop context.CancelCauseFunc, j job) {
	good := a.lease - min(task.Margin, a.lease/3)
	until := j.sent.Add(good)
	for {
		left := time.Until(until)
		if left <= 0 {
			stop(errLeaseOver)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(a.lease/3, left)):
		}
		sent := time.Now()
		call, cancel := context.WithDeadline(ctx, until)
		err := a.store.RenewTask(call, j.claimed, a.lease)
		cancel()
		switch {
		case err == nil:
			until = sent.Add(good)
		case fault.Is(err, fault.Conflict):
			stop(fmt.Errorf("the claim on %s is lost: %w", j.request.TaskID, err))
			return
		}
	}
}

// ended gives the error of a run that failed, where its claim is why. over is true when another run has the task: what this one had begun
// is the other's now.
func (j job) ended(ctx context.Context, err error) (cause error, over bool) {
	cause = context.Cause(ctx)
	if errors.Is(cause, errLeaseOver) {
		return cause, false
	}
	if now, refused := store.RefusedTask(cause, j.request.TaskID); refused && !now.Cancelled {
		return cause, true
	}
	return err, false
}
