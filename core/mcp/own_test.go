package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestOwnServers: a program asks its own servers without a model, and stays connected between two calls.
func TestOwnServers(t *testing.T) {
	lab := serve(t, current(newServer(adding("rich", `{"type":"object"}`, rich), adding("a.dotted.name", `{"type":"object"}`, answering("dotted")), adding("structured", `{"type":"object"}`, structured))))
	own := mcp.Own{Warm: &mcp.Warm{Dialer: dialer(lab)}, Servers: map[string]contract.MCPServer{
		"lab": {URL: lab.URL}, "off": {URL: lab.URL, Disabled: true}, "away": {URL: "https://elsewhere.example.com", ContinueOnError: true},
	}}
	defer func() { _ = own.Warm.Close() }()
	for _, tt := range []struct {
		server, name, input, want string
		code                      fault.Code
	}{
		{"lab", "greet", `{"name":"ada"}`, `"hello ada"`, ""},
		{"lab", "structured", `{}`, `{"n":1}`, ""},
		{"lab", "rich", `{}`, `["see","[image`, ""},
		{"lab", "a.dotted.name", `{}`, `"dotted"`, ""},
		{"lab", "greet", `{"name":7}`, "", fault.Invalid},
		{"lab", "fail", `{}`, "", fault.Invalid},
		{"lab", "dance", `{}`, "", fault.NotFound},
		{"off", "greet", `{}`, "", fault.NotFound},
		{"nobody", "greet", `{}`, "", fault.NotFound},
		{"away", "greet", `{}`, "", fault.Invalid}, // its host is not allowed
	} {
		got, err := own.Call(t.Context(), tt.server, tt.name, json.RawMessage(tt.input))
		if fault.CodeOf(err) != tt.code || !strings.HasPrefix(string(got), tt.want) {
			t.Errorf("%s.%s(%s) = %s, %v, want %s %q", tt.server, tt.name, tt.input, got, err, tt.want, tt.code)
		}
	}
	if n := lab.count("initialize"); n != 1 {
		t.Errorf("%d connections for seven calls, want 1", n)
	}
}

// TestAScheduleCallsAServer: the handler names server and tool in one, and no model is asked.
func TestAScheduleCallsAServer(t *testing.T) {
	lab := serve(t, current(newServer()))
	own := mcp.Own{Warm: &mcp.Warm{Dialer: dialer(lab)}, Servers: map[string]contract.MCPServer{"lab": {URL: lab.URL}}}
	defer func() { _ = own.Warm.Close() }()
	var said []string
	set, err := schedule.NewSet(nil, schedule.Handler{ID: "greets", Cron: "0 9 * * *", Run: func(ctx context.Context, run schedule.Run) error {
		out, err := run.CallTool(ctx, "lab.greet", map[string]string{"name": "ada"})
		said = append(said, string(out))
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := stage.New(&fake.Model{})
	ran, err := flow.RunSchedule{Edges: s.Edges, Schedules: set, Tools: tool.Builtin(), Host: schedule.Host{MCP: own.Call}}.Do(t.Context(), contract.RunSchedule{
		ScheduleID: "greets", At: contract.At(s.Clock.Now().Truncate(time.Minute)),
	})
	if err != nil || ran.Error != "" || len(said) != 1 || said[0] != `"hello ada"` {
		t.Errorf("it said %q; %+v, %v", said, ran, err)
	}
}
