package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// mcpServer is an MCP server with one tool, find_posts. It records the headers that it gets.
type mcpServer struct {
	*httptest.Server
	mu  sync.Mutex
	got []http.Header
}

func startMCP(t *testing.T) *mcpServer {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "blog", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "find_posts", Description: "Finds posts of the blog."},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			Words string `json:"words"`
		}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "3 posts about " + in.Words}}}, nil, nil
		})
	m := &mcpServer{}
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.got = append(m.got, r.Header.Clone())
		m.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

// TestMCPServer: a session, and a task, that name a server on an allowed host use its tool. The server gets the identity that the
// session's maker minted, and of the functions' variables only what begins with MCP_.
func TestMCPServer(t *testing.T) {
	t.Parallel()
	blog := startMCP(t)
	s := start(t, cloud.Options{
		Parameters: map[string]string{"McpAllowedHosts": blog.URL},
		Env:        map[string]map[string]string{"run-turn": {"MCP_TOKEN": "tok-1"}},
	})
	const minted = "eyJ1IjoiYWRhIn0.c2ln${MCP_TOKEN}"
	servers := fmt.Sprintf(`{"blog":{"url":%q,"headers":{"X-Booked-Auth":"forged","authorization":"Bearer ${env:MCP_TOKEN}",
		"x-stolen":"${AWS_SECRET_ACCESS_KEY}"},"authHeader":{"name":"x-booked-auth","value":%q}}}`, blog.URL+"/mcp", minted)
	made := s.as("ada", "POST", "/agent/sessions", `{"mcpServers":`+servers+`}`).is(t, 201)
	ada := s.connect("ada", "")
	for range 2 {
		if h := ada.ask(made["sessionId"].(string), `call blog__find_posts with {"words":"boats"}`); !strings.Contains(h.text, "3 posts about boats") {
			t.Errorf("the chat answers %q", h.text)
		}
	}
	task := s.as("ada", "POST", "/agent/tasks", `{"request":"call blog__find_posts with {\"words\":\"tides\"}","wait":true,"mcpServers":`+servers+`}`).is(t, 200)
	if task["status"] != "COMPLETED" || !strings.Contains(task["output"].(string), "3 posts about tides") {
		t.Errorf("the task: %v", task)
	}
	blog.mu.Lock()
	defer blog.mu.Unlock()
	if len(blog.got) < 4 {
		t.Errorf("the server was asked %d times", len(blog.got))
	}
	for _, h := range blog.got {
		if got := h.Values("X-Booked-Auth"); len(got) != 1 || got[0] != minted {
			t.Errorf("the identity is %q", got)
		}
		if got := h.Get("Authorization") + "|" + h.Get("X-Stolen"); got != "Bearer tok-1|${AWS_SECRET_ACCESS_KEY}" {
			t.Errorf("the headers are %q", got)
		}
	}
	if log := s.log.String(); strings.Contains(log, minted) || strings.Contains(log, "tok-1") {
		t.Error("an identity stands in the log")
	}
}

// TestMCPServerAway: a server that cannot be reached fails the turn with its label, or is told of and done without.
func TestMCPServerAway(t *testing.T) {
	t.Parallel()
	away := startMCP(t)
	away.Close()
	s := start(t, cloud.Options{Parameters: map[string]string{"McpAllowedHosts": away.URL}})
	spec := func(more string) string { return fmt.Sprintf(`{"mcpServers":{"blog":{"url":%q%s}}}`, away.URL, more) }
	ada := s.connect("ada", "")
	strict := s.as("ada", "POST", "/agent/sessions", spec("")).is(t, 201)
	ada.say(strict["sessionId"].(string), "hello")
	if h := ada.turn(); !strings.Contains(h.message, "MCP server blog: it could not be reached") {
		t.Errorf("the turn: %s, %s", h.code, h.message)
	}
	lenient := s.as("ada", "POST", "/agent/sessions", spec(`,"continueOnError":true`)).is(t, 201)
	if h := ada.ask(lenient["sessionId"].(string), "What are your instructions?"); !strings.Contains(h.text, `The tools of the MCP server "blog" are not available now`) {
		t.Errorf("the model was told %q", h.text)
	}
}

// TestMCPServersByEvent: what may not be named is refused on the bus, too: the task fails with the reason, and no session is made.
func TestMCPServersByEvent(t *testing.T) {
	t.Parallel()
	s := shared(t)
	for i, tt := range []struct{ server, want string }{
		{`{"command":"touch","args":["/tmp/x"]}`, "mcpServers.x: servers that are started by a command are not allowed"},
		{`{"url":"https://evil.example.com/mcp"}`, `mcpServers.x.url: host "evil.example.com" is not allowed`},
	} {
		id := fmt.Sprintf("mcp-by-event-%d", i)
		s.put(t, contract.RunAgentTask, fmt.Sprintf(`{"taskId":%q,"principal":{"type":"user","id":%q},"request":"hello","mcpServers":{"x":%s}}`, id, sub("ada"), tt.server), 1)
		s.put(t, contract.CreateAgentSession, fmt.Sprintf(`{"sessionId":%q,"userId":%q,"mcpServers":{"x":%s}}`, id, sub("ada"), tt.server), 1)
		eventually(t, "the task to be refused", func() bool { return len(s.completions(id)) > 0 })
		eventually(t, "the session to be refused", func() bool { return len(s.log.lines("event failed", contract.CreateAgentSession, "mcpServers.x")) > i })
		if got := s.finished("ada", id); got["status"] != "FAILED" || got["error"] != tt.want {
			t.Errorf("the task: %v, want %q", got, tt.want)
		}
		if got := s.as("ada", "GET", "/agent/sessions/"+id, ""); got.status != 404 {
			t.Errorf("the session: %+v", got)
		}
	}
}
