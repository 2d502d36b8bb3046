package flow_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestMCPServersAreCheckedAtCreation: a session and a task that name a server which is not allowed are refused, and nothing is stored.
func TestMCPServersAreCheckedAtCreation(t *testing.T) {
	allowed := contract.MCPHosts{"mcp.example.com"}
	good := contract.MCPServer{URL: "https://mcp.example.com/mcp", AuthHeader: &contract.AuthHeader{Name: "x-auth", Value: "minted"}}
	tests := []struct {
		name   string
		hosts  contract.MCPHosts
		server contract.MCPServer
		want   string // "": made
	}{
		{"an allowed host", allowed, good, ""},
		{"an empty list", nil, good, `mcpServers.blog.url: host "mcp.example.com" is not allowed`},
		{"another host", allowed, contract.MCPServer{URL: "https://evil.com/mcp"}, `mcpServers.blog.url: host "evil.com" is not allowed`},
		{"plain http", allowed, contract.MCPServer{URL: "http://mcp.example.com/mcp"}, "mcpServers.blog.url: must be an https URL"},
		{"a command", allowed, contract.MCPServer{Command: "npx", Args: []string{"-y", "x"}}, "mcpServers.blog: servers that are started by a command are not allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				servers := map[string]contract.MCPServer{"blog": tt.server}
				_, err := flow.CreateSession{Edges: s.Edges, MCPHosts: tt.hosts}.Do(ctx, flow.CreateSessionIn{
					Config: session.Config{SessionID: id, UserID: stage.User.ID, MCPServers: servers}, CreatedBy: "call-1"})
				made, taskErr := flow.CreateTask{Edges: s.Edges, MCPHosts: tt.hosts}.Do(ctx, flow.CreateTaskIn{Caller: stage.User.ID, Request: "do it", MCPServers: servers})
				if tt.want != "" {
					for _, err := range []error{err, taskErr} {
						if !fault.Is(err, fault.Invalid) || fault.Public(err) != tt.want {
							t.Errorf("got %v, want Invalid, %q", err, tt.want)
						}
					}
					if rows := s.Dynamo.Items(""); len(rows) != 0 {
						t.Errorf("%d rows are stored", len(rows))
					}
					return
				}
				must(t, err, taskErr)
				config, err := s.Edges.Table.SessionConfig(ctx, id)
				must(t, err)
				if diff := cmp.Diff(servers, config.MCPServers); diff != "" {
					t.Errorf("the session's servers (-want +got):\n%s", diff)
				}
				for _, hosts := range []contract.MCPHosts{tt.hosts, nil} { // judged again when it is bound
					r := request("t-"+string(rune('a'+len(hosts))), "")
					r.MCPServers = servers
					got, err := flow.BindTask{Edges: s.Edges, MaxDepth: 8, MCPHosts: hosts}.Do(ctx, flow.BindTaskIn{Request: r, EnvelopeID: "e"})
					must(t, err)
					if refused := got.Error != ""; refused != (hosts == nil) {
						t.Errorf("with the hosts %v: %+v", hosts, got)
					}
				}
				if made.TaskID == "" {
					t.Error("the task has no id")
				}
			})
		})
	}
}
