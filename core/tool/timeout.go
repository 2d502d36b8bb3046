package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Timeout ends each call after d: its context is cancelled and the caller gets fault.Unavailable with reason "tool_timeout" at
// once. A tool that ignores its context goes on in the background and may still have an effect; its result is discarded.
// When the caller's own context ends, the tool has what is left of d to return. d <= 0 leaves the tool as it is.
func Timeout(t Tool, d time.Duration) Tool {
	if d <= 0 {
		return t
	}
	return timed{Tool: t, limit: d}
}

type timed struct {
	Tool
	limit time.Duration
}

func (t timed) Spec() Spec {
	s := t.Tool.Spec()
	s.MaxTime = t.limit
	return s
}

func (t timed) Call(ctx Context, input json.RawMessage) (any, error) {
	ctx = ctx.ready()
	slow := fault.New(fault.Unavailable, "the tool did not finish within %s", t.limit).Because("tool_timeout")
	inner, cancel := context.WithTimeoutCause(ctx.Context, t.limit, slow)
	defer cancel()
	timer := time.NewTimer(t.limit)
	defer timer.Stop()
	done := make(chan outcome, 1)
	go func() { done <- run(t.Tool, ctx.With(inner), input) }()
	select {
	case o := <-done:
		return o.unwrap()
	case <-inner.Done():
		if errors.Is(context.Cause(inner), slow) {
			return nil, slow
		}
	}
	select { // the caller's own context has ended
	case o := <-done:
		return o.unwrap()
	case <-timer.C:
		return nil, slow
	}
}

// outcome is how a call in another goroutine ended.
type outcome struct {
	output any
	err    error
	panic  any
}

// run calls t and keeps a panic as part of the outcome.
func run(t Tool, ctx Context, input json.RawMessage) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	o.output, o.err = t.Call(ctx, input)
	return o
}

// unwrap gives the result to the caller, a panic as a panic.
func (o outcome) unwrap() (any, error) {
	if o.panic != nil {
		panic(o.panic)
	}
	return o.output, o.err
}
