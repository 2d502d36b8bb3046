package loop

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// attempts calls the model until an attempt gives a usable reply. Each failed attempt is voided by a Reset; only retryable
// faults are tried again. The reply's usage is that of all attempts.
func (r *run) attempts(ctx context.Context, step int) (model.Reply, error) {
	req, err := r.request()
	if err != nil {
		return model.Reply{}, err
	}
	var used model.Usage
	wait := r.Limits.Backoff
	for n := 1; ; n++ {
		r.watcher.emit(Attempt{Step: step, N: n})
		reply, err := r.attempt(ctx, req, step)
		used = used.Add(reply.Usage)
		r.state.Spent.Usage = r.state.Spent.Usage.Add(reply.Usage)
		if err == nil {
			err = verdict(reply)
		}
		if err != nil || reply.Stop == model.StopGuardrail || reply.Stop == model.StopFiltered {
			r.watcher.emit(Reset{Attempt: n})
		}
		if err == nil {
			reply.Usage = used
			return reply, nil
		}
		if err := r.again(ctx, n, wait, err); err != nil {
			return model.Reply{}, fmt.Errorf("model call of step %d: %w", step, err)
		}
		wait = min(2*wait, maxBackoff)
	}
}

// again waits before the next attempt, or gives the error that ends the run.
func (r *run) again(ctx context.Context, n int, wait time.Duration, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !fault.Retryable(err) || n >= r.Limits.Attempts || r.answer.counts(err) {
		return err
	}
	r.Log.Warn("model call failed, trying again", "attempt", n, "wait", wait, "error", err)
	if err := r.Sleep(ctx, wait); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}

// request is the next request, repaired and checked.
func (r *run) request() (model.Request, error) {
	req := r.Request
	req.Messages, req.Tools = r.state.History, r.specs
	if endsWithResults(req.Messages) && r.answer == nil {
		req.ToolChoice = model.ToolChoice{} // a call forced at every step would never end
	}
	req = model.Build(req)
	if err := model.Check(req); err != nil {
		return req, fmt.Errorf("check the model request: %w", err)
	}
	return req, nil
}

// attempt streams one reply, showing it as it comes. With an error the reply holds what was used.
func (r *run) attempt(ctx context.Context, req model.Request, step int) (model.Reply, error) {
	var c model.Collector
	ids := newCallIDs(r.state.History, r.CallPrefix, step)
	stopped := false
	for event, err := range r.Model.Stream(ctx, req) {
		if err != nil && !stopped {
			reply, _ := c.Reply() // what came before the error, for its usage
			return reply, err
		}
		if err != nil {
			r.Log.Warn("model stream broke after its end", "step", step, "error", err)
			break
		}
		event = ids.rename(event)
		r.show(event)
		c.Add(event)
		if _, ok := event.(model.Stop); ok {
			stopped = true
		}
	}
	return c.Reply()
}

// show passes on what a live view can use of the stream.
func (r *run) show(event model.Event) {
	switch e := event.(type) {
	case model.TextDelta:
		if e.Text != "" {
			r.watcher.emit(Text{Delta: e.Text})
		}
	case model.ReasoningDelta:
		if e.Text != "" {
			r.watcher.emit(Reasoning{Delta: e.Text})
		}
	case model.ToolStart:
		r.watcher.emit(ToolUse{ID: e.ID, Name: e.Name})
	}
}

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
