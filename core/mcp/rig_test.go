package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// request is what a recording server got.
type request struct {
	HTTP   string // method
	RPC    string // method; "" without a body
	Header http.Header
}

// server is an HTTP server on loopback that records what it is asked. before may answer instead of the handler.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	got    []request
	before func(w http.ResponseWriter, r request) (answered bool)
}

func serve(t *testing.T, h http.Handler) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var rpc struct{ Method string }
		_ = json.Unmarshal(body, &rpc)
		one := request{r.Method, rpc.Method, r.Header.Clone()}
		s.mu.Lock()
		s.got = append(s.got, one)
		before := s.before
		s.mu.Unlock()
		if before == nil || !before(w, one) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// interfere lets f answer from now on; nil: nobody does.
func (s *server) interfere(f func(w http.ResponseWriter, r request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// requests gives what came so far.
func (s *server) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.got...)
}

// count tells how often a method of the protocol was called.
func (s *server) count(rpc string) (n int) {
	for _, r := range s.requests() {
		if r.RPC == rpc {
			n++
		}
	}
	return n
}

// host is the server's entry in a list of allowed hosts.
func (s *server) host() string { return s.URL }

func (s *server) spec() contract.MCPServer { return contract.MCPServer{URL: s.URL + "/mcp"} }

// dialer may reach the given servers.
func dialer(servers ...*server) mcp.Dialer {
	d := mcp.Dialer{
		AllowedHosts: contract.MCPHosts{}, LookupEnv: func(string) (string, bool) { return "", false },
		ConnectTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
	}
	for _, s := range servers {
		d.AllowedHosts = append(d.AllowedHosts, s.host())
	}
	return d
}

func connect(t *testing.T, d mcp.Dialer, specs map[string]contract.MCPServer) *mcp.Servers {
	t.Helper()
	s, err := d.Connect(t.Context(), specs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// one connects to one server under the label "lab".
func one(t *testing.T, s *server) *mcp.Servers {
	t.Helper()
	return connect(t, dialer(s), map[string]contract.MCPServer{"lab": s.spec()})
}

// text calls a tool as a turn would, its result limited, and gives the text of the result or of the error.
func text(t *testing.T, s *mcp.Servers, name, input string) string {
	t.Helper()
	out, err := call(t.Context(), s, name, input)
	if err != nil {
		return "error: " + err.Error()
	}
	return out
}

func call(ctx context.Context, s *mcp.Servers, name, input string) (string, error) {
	return calling(ctx, s.Tools(), name, input)
}

func calling(ctx context.Context, tools []tool.Tool, name, input string) (string, error) {
	found, unknown := tool.Registry(tools).Pick(name)
	if len(unknown) > 0 {
		return "", errNoTool
	}
	out, err := tool.Limit(found[0], 0).Call(tool.Context{Context: ctx}, json.RawMessage(input))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range out.([]model.ResultPart) {
		b.WriteString(p.Text + string(p.JSON))
	}
	return b.String(), nil
}

type noTool struct{}

func (noTool) Error() string { return "no such tool" }

var errNoTool error = noTool{}

// Greeting is the input of greet.
type Greeting struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

// newServer has the tools greet (read only), fail, and those that add adds.
func newServer(add ...func(*sdk.Server)) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "lab", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "Greets.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in Greeting) (*sdk.CallToolResult, any, error) {
			return said("hello " + in.Name), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "fail", Description: "Fails."},
		func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
			r := said("404 Not Found: no such session")
			r.IsError = true
			return r, nil, nil
		})
	for _, a := range add {
		a(s)
	}
	return s
}

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// adding adds a tool without typed input.
func adding(name string, schema string, h sdk.ToolHandler) func(*sdk.Server) {
	return func(s *sdk.Server) {
		s.AddTool(&sdk.Tool{Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(schema)}, h)
	}
}

func answering(text string) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return said(text), nil }
}

// The transports of a server.
func streamable(s *sdk.Server) http.Handler {
	return legacy(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
}

func current(s *sdk.Server) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

func stateless(s *sdk.Server) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

func sse(s *sdk.Server) http.Handler {
	h := sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return s }, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Query().Get("sessionid") == "" {
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// legacy is a server of before server/discover: it keeps sessions.
func legacy(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"server/discover"`)) {
			http.Error(w, "Bad Request: not initialized", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}
