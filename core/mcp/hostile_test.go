package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// paged is a server with tools in pages; without an end it gives new pages for ever.
func paged(tools, page int, endless bool) http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: "lab", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "tools/call" {
				return said("called " + r.(*sdk.CallToolRequest).Params.Name), nil
			}
			if method != "tools/list" {
				return next(ctx, method, r)
			}
			var from int
			_, _ = fmt.Sscan(r.(*sdk.ListToolsRequest).Params.Cursor, &from)
			out := &sdk.ListToolsResult{}
			for i := from; i < min(from+page, tools); i++ {
				out.Tools = append(out.Tools, &sdk.Tool{Name: fmt.Sprintf("t%d", i), InputSchema: json.RawMessage(`{"type":"object"}`)})
			}
			if from+page < tools || endless {
				out.NextCursor = fmt.Sprint(from + page)
			}
			return out, nil
		}
	})
	return streamable(s)
}

// TestPages: tools come in pages; there is an end to what is read of them.
func TestPages(t *testing.T) {
	s := one(t, serve(t, paged(300, 7, false)))
	if len(s.Tools()) != 300 || s.Note() != "" {
		t.Errorf("%d tools, note %q", len(s.Tools()), s.Note())
	}
	if got := text(t, s, "lab__t299", `{}`); got != "called t299" {
		t.Errorf("the last tool = %q", got)
	}
	if s := one(t, serve(t, paged(700, 100, false))); len(s.Tools()) != mcp.MaxTools || !strings.Contains(s.Note(), "Tools of the MCP servers that cannot be used: ") {
		t.Errorf("of 700 tools there are %d, note %q", len(s.Tools()), s.Note())
	}
	endless := serve(t, paged(3, 1, true))
	if s := one(t, endless); len(s.Tools()) != 3 || endless.count("tools/list") > 300 {
		t.Errorf("%d tools after %d pages", len(s.Tools()), endless.count("tools/list"))
	}
}

// TestTheRoomOfAllTools: each is within its limits, and all together would not leave a model room for anything else.
func TestTheRoomOfAllTools(t *testing.T) {
	long := `{"type":"object","properties":{"a":{"description":"` + strings.Repeat("x", 30_000) + `"}}}`
	var add []func(*sdk.Server)
	for i := range 20 {
		add = append(add, adding(fmt.Sprintf("wide%02d", i), long, answering("wide")))
	}
	s := one(t, serve(t, streamable(newServer(add...))))
	size := 0
	for _, remote := range s.Tools() {
		size += len(remote.Spec().Description) + len(remote.Spec().Schema)
	}
	if size > mcp.MaxDescribed || size < mcp.MaxDescribed/2 || !strings.Contains(s.Note(), "cannot be used: ") {
		t.Errorf("%d tools of %d bytes, note %q", len(s.Tools()), size, s.Note())
	}
	if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
		t.Errorf("greet = %q", got)
	}
}

// TestAnswersOfSize: 5 MB are cut for the model, which is told, and what is over the limit is not read; the server stays in use.
func TestAnswersOfSize(t *testing.T) {
	for name, transport := range map[string]func(*sdk.Server) http.Handler{"stateful": streamable, "stateless": stateless, "sse": sse} {
		t.Run(name, func(t *testing.T) {
			s := one(t, serve(t, transport(newServer(
				adding("five", `{"type":"object"}`, answering("<"+strings.Repeat("x", 5_000_000)+">")),
				adding("nine", `{"type":"object"}`, answering(strings.Repeat("x", 9_000_000)))))))
			got := text(t, s, "lab__five", `{}`)
			if len(got) > tool.DefaultMaxResult || !strings.HasPrefix(got, "<x") || !strings.HasSuffix(got, "x>") || !strings.Contains(got, "bytes cut") {
				t.Errorf("5 MB became %d bytes: %.60q", len(got), got)
			}
			if got := text(t, s, "lab__nine", `{}`); !strings.HasPrefix(got, "error: ") || len(got) > 300 {
				t.Errorf("9 MB became %d bytes: %.200q", len(got), got)
			}
			for range 100 { // the old transport's end may come while the next call is under way
				if got = text(t, s, "lab__greet", `{"name":"ada"}`); got == "hello ada" || name != "sse" {
					break
				}
			}
			if got != "hello ada" {
				t.Errorf("the next call = %q", got)
			}
		})
	}
	srv := serve(t, streamable(newServer()))
	srv.interfere(func(w http.ResponseWriter, r request) bool {
		if r.RPC == "tools/list" {
			_, _ = w.Write([]byte(strings.Repeat(" ", 9_000_000)))
		}
		return r.RPC == "tools/list"
	})
	if _, err := dialer(srv).Connect(t.Context(), map[string]contract.MCPServer{"lab": srv.spec()}); err == nil {
		t.Error("a list of 9 MB was read")
	}
}

// TestHang: a server that does not answer costs its time, and no more.
func TestHang(t *testing.T) {
	var over chan struct{}
	hang := func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-over
		return nil, errors.New("over")
	}
	for name, transport := range map[string]func(*sdk.Server) http.Handler{"current": current, "stateful": streamable, "sse": sse} {
		t.Run(name, func(t *testing.T) {
			over = make(chan struct{})
			srv := serve(t, transport(newServer(adding("hang", `{"type":"object"}`, hang))))
			defer close(over)
			d := dialer(srv)
			d.CallTimeout = 100 * time.Millisecond
			s := connect(t, d, map[string]contract.MCPServer{"lab": srv.spec()})
			if got := text(t, s, "lab__hang", `{}`); got != "error: the tool did not finish within 100ms" {
				t.Errorf("hang = %q", got)
			}
			var got string
			for range 50 { // a slow machine may need more than the call's time
				if got = text(t, s, "lab__greet", `{"name":"ada"}`); got == "hello ada" {
					break
				}
			}
			if got != "hello ada" {
				t.Errorf("the next call = %q", got)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("the turn ends")
			time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
			if _, err := call(ctx, s, "lab__hang", `{}`); !errors.Is(err, reason) {
				t.Errorf("when the turn ends: %v, want its reason", err)
			}
		})
	}
	silent := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	d := dialer(silent)
	d.ConnectTimeout = 100 * time.Millisecond
	began := time.Now()
	_, err := d.Connect(t.Context(), map[string]contract.MCPServer{"lab": silent.spec()})
	if fault.Public(err) != "MCP server lab: it did not answer in time" || time.Since(began) > 20*time.Second {
		t.Errorf("Connect = %v after %v", err, time.Since(began))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the turn ends")
	time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
	d.ConnectTimeout = time.Minute
	if _, err := d.Connect(ctx, map[string]contract.MCPServer{"lab": silent.spec()}); !errors.Is(err, reason) {
		t.Errorf("when the turn ends: %v, want its reason", err)
	}
}

// TestCloseOfADeafServer: a server that does not take note of the end is left alone.
func TestCloseOfADeafServer(t *testing.T) {
	t.Parallel()
	srv := serve(t, streamable(newServer()))
	s := one(t, srv)
	over := make(chan struct{})
	defer close(over)
	srv.interfere(func(_ http.ResponseWriter, r request) bool {
		if r.HTTP == http.MethodDelete {
			<-over
		}
		return true
	})
	began := time.Now()
	if err := s.Close(); err != nil || time.Since(began) > 20*time.Second {
		t.Errorf("Close = %v after %v", err, time.Since(began))
	}
}

// TestNonsense: what does not speak the protocol is an error, in connecting and in calls.
func TestNonsense(t *testing.T) {
	answers := map[string]func(w http.ResponseWriter){
		"a web page": func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>hello</html>")) },
		"cut JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"jsonrpc":`))
		},
		"an odd type": func(w http.ResponseWriter) { w.Header().Set("Content-Type", "x/y"); _, _ = w.Write([]byte("{}")) },
		"no event":    func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/event-stream") },
		"cut off":     func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"an error of the protocol": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"boom"}}`))
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			odd := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
			if _, err := dialer(odd).Connect(t.Context(), map[string]contract.MCPServer{"lab": odd.spec()}); !fault.Is(err, fault.Unavailable) {
				t.Errorf("Connect = %v, want Unavailable", err)
			}
			srv := serve(t, streamable(newServer()))
			s := one(t, srv)
			srv.interfere(func(w http.ResponseWriter, r request) bool {
				if r.RPC == "tools/call" {
					answer(w)
				}
				return r.RPC == "tools/call"
			})
			if got := text(t, s, "lab__fail", `{}`); !strings.HasPrefix(got, "error: the MCP server lab ") {
				t.Errorf("call = %q", got)
			}
			srv.interfere(nil)
			if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
				t.Errorf("the next call = %q", got)
			}
		})
	}
}
