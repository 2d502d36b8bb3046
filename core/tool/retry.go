package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// The defaults of RetryReads.
const (
	DefaultTries = 3
	DefaultWait  = 200 * time.Millisecond
)

// RetryReads repeats a call that failed with a retryable fault, if the tool is marked ReadOnly and not Once; another tool is never
// repeated, so the mark comes first: RetryReads(ReadOnly(t), 0, 0). tries counts the first call too; the wait doubles each
// time. Zeros mean DefaultTries and DefaultWait. Each repeat is told to ctx.Retried.
func RetryReads(t Tool, tries int, wait time.Duration) Tool {
	if tries <= 0 {
		tries = DefaultTries
	}
	if wait <= 0 {
		wait = DefaultWait
	}
	return repeated{Tool: t, tries: tries, wait: wait}
}

type repeated struct {
	Tool
	tries      int
	wait       time.Duration
	idempotent bool // a write that comes to the same however often it is done
}

func (r repeated) Spec() Spec {
	s := r.Tool.Spec()
	s.Tries = r.tries
	return s
}

func (r repeated) Call(ctx Context, input json.RawMessage) (any, error) {
	ctx = ctx.ready()
	spec := r.Tool.Spec()
	again := r.idempotent || spec.ReadOnly && !spec.Once
	wait := r.wait
	for try := 1; ; try++ {
		output, err := r.Tool.Call(ctx, input)
		if err == nil || !again || try >= r.tries || !fault.Retryable(err) || ctx.Err() != nil {
			return output, err
		}
		if ctx.Retried != nil {
			ctx.Retried(try, wait, err)
		}
		if pause(ctx, wait) != nil {
			return nil, err
		}
		wait *= 2
	}
}

// pause waits for d or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
