package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// ranTurn runs one turn with the servers' tools: the model, which refuses what a service would refuse, calls one tool, reads the
// result and answers. It gives the result.
func ranTurn(t *testing.T, s *mcp.Servers, name string) model.ToolResult {
	t.Helper()
	answers := &fake.Model{World: &fake.World{}, Script: []fake.Turn{
		fake.Calls("", model.ToolUse{ID: "c1", Name: name, Input: json.RawMessage(`{"name":"ada"}`)}), fake.Say("I see."),
	}}
	r := loop.Runner{Model: answers, Tools: s.Tools(), Request: model.Request{ModelID: "m", System: "Be brief. " + s.Note()}}
	out, err := r.Run(t.Context(), tool.Context{}, []model.Message{{Role: model.User, Content: []model.Block{{Text: "do it"}}}})
	if err != nil || out.Final.PlainText() != "I see." || len(answers.Requests()) != 2 {
		t.Fatalf("the turn: %q, %v, after %d requests", out.Final.PlainText(), err, len(answers.Requests()))
	}
	asked := answers.Requests()[1].Messages
	results := asked[len(asked)-1].Results()
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	return results[0]
}

// TestTurnsSurviveTheirServers: whatever a server does, the turn ends well, the model is told what happened, and a tool that is sound
// works in the turn after.
func TestTurnsSurviveTheirServers(t *testing.T) {
	over := make(chan struct{})
	hang := func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-over
		return said("late"), nil
	}
	called := func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return said("called " + r.Params.Name), nil
	}
	forgetful := func(s *server) { forgets(s, http.StatusNotFound, "Not Found") }
	gone := func(s *server) {
		s.interfere(func(w http.ResponseWriter, _ request) bool {
			w.WriteHeader(http.StatusNotFound)
			return true
		})
	}
	anyOf := map[string]string{"greet": `{"type":"object","anyOf":[{"required":["name"],"properties":{"name":{"type":"string"}}}]}`}
	clash := map[string]string{"a.b": `{"type":"object"}`, "a_b": `{"type":"object"}`, "a b": `{"type":"object"}`, "greet": `{"type":"object"}`}
	tests := []struct {
		name   string
		h      http.Handler
		before func(*server) // between connecting and the turn
		calls  string
		status model.ToolStatus
		told   string
	}{
		{"it forgets the session", streamable(newServer()), forgetful, "lab__greet", model.Success, "hello ada"},
		{"it forgets the session for good", streamable(newServer()), gone, "lab__fail", model.Failure, "has lost the session, and a new one failed: it answered with status 404"},
		{"it returns 5 MB", streamable(newServer(adding("big", `{"type":"object"}`, answering(strings.Repeat("x", 5_000_000))))), nil, "lab__big", model.Success, "bytes cut"},
		{"it returns 9 MB", streamable(newServer(adding("big", `{"type":"object"}`, answering(strings.Repeat("x", 9_000_000))))), nil, "lab__big", model.Failure, "larger than 8388608 bytes"},
		{"it has 300 tools in pages", paged(300, 10, false), nil, "lab__t287", model.Success, "called t287"},
		{"its names clash once they are clean", listing(clash, called), nil, mcp.Name("lab", "a b"), model.Success, "called a b"},
		{"it has anyOf at the top", listing(anyOf, called), nil, "lab__greet", model.Success, "called greet"},
		{"it hangs", streamable(newServer(adding("hang", `{"type":"object"}`, hang))), nil, "lab__hang", model.Failure, "the tool did not finish within 300ms"},
		{"its tool fails", streamable(newServer()), nil, "lab__fail", model.Failure, "404 Not Found: no such session"},
		{"it has ended", streamable(newServer()), func(s *server) { s.CloseClientConnections(); s.Listener.Close() }, "lab__fail", model.Failure, "could not be reached"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, tt.h)
			d := dialer(srv)
			if tt.name == "it hangs" {
				d.CallTimeout = 300 * time.Millisecond
			}
			s := connect(t, d, map[string]contract.MCPServer{"lab": srv.spec()})
			if tt.name == "it hangs" {
				defer close(over) // a server waits for its calls when it is closed
			}
			if tt.before != nil {
				tt.before(srv)
			}
			got := ranTurn(t, s, tt.calls)
			if text := fmt.Sprint(got.Content); got.Status != tt.status || !strings.Contains(text, tt.told) || len(text) > tool.DefaultMaxResult+1000 {
				t.Errorf("the model reads %s, %.300s, want %s, %q", got.Status, text, tt.status, tt.told)
			}
		})
	}
}
