package loop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// TestEveryToolIsGuarded: a read that fails for a moment is repeated and shown, another tool is not; a call that hangs ends; a tool
// that brings its own wrappers keeps them.
func TestEveryToolIsGuarded(t *testing.T) {
	busy := fault.New(fault.Unavailable, "busy")
	failing := func(times int) func(tool.Context, string) (any, error) {
		return func(tool.Context, string) (any, error) {
			if times--; times >= 0 {
				return nil, busy
			}
			return "read", nil
		}
	}
	hang := func(ctx tool.Context, _ string) (any, error) { <-ctx.Done(); return nil, context.Cause(ctx) }
	tests := []struct {
		name string
		tool tool.Tool
		want []string
	}{
		{"a read", tool.ReadOnly(fn("work", failing(1))), []string{"started c1", "retry c1 1 200ms: busy", `finished c1:"read" in 200ms`}},
		{"a read that stays busy", tool.ReadOnly(fn("work", failing(9))), []string{"started c1", "retry c1 1 200ms: busy", "retry c1 2 400ms: busy", `finished c1!"busy" in 600ms`}},
		{"a write", fn("work", failing(1)), []string{"started c1", `finished c1!"busy" in 0s`}},
		{"a read that wants one try", tool.RetryReads(tool.ReadOnly(fn("work", failing(1))), 1, 0), []string{"started c1", `finished c1!"busy" in 0s`}},
		{"a read that must not run twice", tool.Once(tool.ReadOnly(fn("work", failing(1)))), []string{"started c1", `finished c1!"busy" in 0s`}},
		{"a read that must not run twice, wrapped", tool.RetryReads(tool.Once(tool.ReadOnly(fn("work", failing(1)))), 3, 0), []string{"started c1", `finished c1!"busy" in 0s`}},
		{"one that hangs", fn("work", hang), []string{"started c1", `finished c1!"the tool did not finish within 10m0s" in 10m0s`}},
		{"one that hangs, with a limit", tool.Timeout(fn("work", hang), time.Hour), []string{"started c1", `finished c1!"the tool did not finish within 1h0m0s" in 1h0m0s`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tr trace
				watch := func(e loop.Event) {
					switch e.(type) {
					case loop.ToolStarted, loop.ToolRetry, loop.ToolFinished:
						tr.watch(e)
					}
				}
				runner := loop.Runner{Model: newScript(t, calls("work {}"), says(model.EndTurn, "ok")), Tools: []tool.Tool{tt.tool}, Watch: watch}
				if _, err := runner.Run(t.Context(), tool.Context{}, history("go")); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, tr.lines); diff != "" {
					t.Errorf("what is shown (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestAnsweredCalls: a call whose result the journal knows does not run; its result is saved with the others and the model sees it.
func TestAnsweredCalls(t *testing.T) {
	ran := 0
	count := fn("work", func(tool.Context, string) (any, error) { ran++; return "ran", nil })
	tr := &trace{mayRun: func(c model.ToolUse) error {
		if c.ID == "c1" {
			return &loop.Answered{Result: model.ToolResult{ID: c.ID, Status: model.Failure, Content: []model.ResultPart{{Text: "unknown"}}}}
		}
		return nil
	}}
	m := newScript(t, calls("work {}", "work {}"), says(model.EndTurn, "ok"))
	if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{count}, Journal: tr}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
		t.Fatal(err)
	}
	if got := m.asked(1)[2]; ran != 1 || got != `user: c1!"unknown" c2:"ran"` {
		t.Errorf("%d calls ran, the model read %s", ran, got)
	}
}
