package tool_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// TestAudit: every call is told once, whatever it came to, and nothing of what was said.
func TestAudit(t *testing.T) {
	busy := fault.New(fault.Unavailable, "secret trouble").Because("busy")
	tests := []struct {
		name string
		fn   func(ctx tool.Context) (string, error)
		want tool.Record
	}{
		{"good", func(tool.Context) (string, error) { time.Sleep(time.Second); return "secret answer", nil }, tool.Record{Took: time.Second}},
		{"failed", func(tool.Context) (string, error) { return "", busy }, tool.Record{Code: fault.Unavailable, Reason: "busy"}},
		{"panicked", func(tool.Context) (string, error) { panic("secret") }, tool.Record{Code: fault.Internal, Reason: "panic"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				ctx := tool.Context{
					Context: t.Context(), ToolUseID: "c1", Principal: task.User("u1"), Session: tool.Session{ID: "s1"}, TaskID: "t1",
					Log: slog.New(slog.NewJSONHandler(&log, nil)),
				}
				tt.want.Tool, tt.want.CallID, tt.want.Principal, tt.want.SessionID, tt.want.TaskID, tt.want.Bytes = "work", "c1", task.User("u1"), "s1", "t1", 2
				var got []tool.Record
				inner := tool.Audit(doing(tt.fn), nil)
				both := tool.Audit(inner, func(r tool.Record) { got = append(got, r) })
				func() {
					defer func() { _ = recover() }()
					_, _ = both.Call(ctx, json.RawMessage(`{}`))
				}()
				if diff := cmp.Diff([]tool.Record{tt.want}, got); diff != "" {
					t.Errorf("records (-want +got):\n%s", diff)
				}
				if line := log.String(); strings.Count(line, "\n") != 1 || !strings.Contains(line, `"tool":"work"`) || !strings.Contains(line, `"principal":"u1"`) || strings.Contains(line, "secret") {
					t.Errorf("log: %s", line)
				}
			})
		})
	}
	twice := tool.Audit(tool.Audit(named("a")[0], nil), nil)
	var log bytes.Buffer
	if _, err := twice.Call(tool.Context{Log: slog.New(slog.NewTextHandler(&log, nil))}, nil); err != nil || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("audited twice: %v, log %s", err, log.String())
	}
}
