package flow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Why a run ends that nobody asked to end.
var (
	errClaimLost = errors.New("the claim went to another")
	errLeaseOver = fault.New(fault.Unavailable, "the lease could not be renewed in time")
)

// work runs the claimed task to its end.
func (r *taskRun) work(ctx context.Context) (task.Result, error) {
	if err := r.request.Validate(r.MaxDepth); err != nil {
		return r.finish(ctx, task.Result{Status: task.Failed, Error: fault.Public(err)})
	}
	if r.claimed.Attempt > task.MaxAttempts {
		return r.finish(ctx, task.Result{Status: task.Failed, Error: task.ReasonWorkerLost})
	}
	var cleanup func() error
	defer func() { r.clean(ctx, cleanup) }()
	end, lost, err := r.leased(ctx, &cleanup)
	switch {
	case lost != nil:
		return r.lost(ctx, lost), nil
	case err == nil:
		end.Status = task.Completed
		return r.finish(ctx, end)
	case fault.Retryable(err) || ctx.Err() != nil:
		r.log.WarnContext(ctx, "the run failed and will be tried again", "error", err)
		r.giveBack(ctx, err)
		return task.Result{}, fmt.Errorf("run task %s: %w", r.request.TaskID, err)
	}
	r.log.WarnContext(ctx, "the run failed", "error", err)
	return r.finish(ctx, task.Result{Status: task.Failed, Error: failure(err), Usage: end.Usage})
}

// leased builds and runs the agent with the lease renewed. lost is the refusal of a renewal: the task is another's, or cancelled.
func (r *taskRun) leased(ctx context.Context, cleanup *func() error) (end task.Result, lost, err error) {
	running, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if lost = r.renew(running); lost != nil {
			cancel(errClaimLost)
		} else {
			cancel(errLeaseOver)
		}
	}()
	end, err = r.run(running, cleanup)
	over := context.Cause(running)
	cancel(nil)
	<-done
	if errors.Is(over, errLeaseOver) { // whatever the run made of it
		return task.Result{}, nil, over
	}
	return end, lost, err
}

// renew keeps the claim until ctx ends. It gives the refusal that took it away, or nil when the lease is about to end by this
// process's own clock.
func (r *taskRun) renew(ctx context.Context) (refused error) {
	until := r.sent.Add(r.Lease - task.Margin)
	for {
		left := until.Sub(r.Now())
		if left <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(min(r.Lease/3, left)):
		}
		sent := r.Now()
		call, cancel := context.WithTimeout(ctx, until.Sub(sent)) // no answer is no renewal
		err := r.Tasks.RenewTask(call, r.claimed, r.Lease)
		cancel()
		switch {
		case err == nil:
			until = sent.Add(r.Lease - task.Margin)
		case fault.Is(err, fault.Conflict):
			return err
		case ctx.Err() == nil:
			r.log.WarnContext(ctx, "the lease was not renewed", "error", err)
		}
	}
}

// run builds the agent and has it do the task, and gives the output and what it used; a panic is an error of either.
func (r *taskRun) run(ctx context.Context, cleanup *func() error) (end task.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.ErrorContext(ctx, "the run panicked", "panic", p, "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "the run panicked")
		}
	}()
	agent, clean, err := r.BuildAgent(ctx, r.request)
	*cleanup = clean
	if err != nil {
		return end, err
	}
	end.Output, end.Usage, err = agent.RunTask(ctx, r.request.Request)
	return end, err
}

// clean gives back what the agent held.
func (r *taskRun) clean(ctx context.Context, cleanup func() error) {
	if cleanup == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			r.log.ErrorContext(ctx, "the cleanup panicked", "panic", p)
		}
	}()
	if err := cleanup(); err != nil {
		r.log.WarnContext(ctx, "the cleanup failed", "error", err)
	}
}
