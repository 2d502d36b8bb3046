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
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// TestP26Names: a name is valid, the same whatever else is connected, and never that of another tool.
func TestP26Names(t *testing.T) {
	sixty := strings.Repeat("n", 60)
	tests := []struct{ label, tool, want string }{
		{"blog", "search", "blog__search"},
		{"my_blog", "search_posts", "my_blog__search_posts"},
		{"blog", "search__all", "blog__search__all"},
		{"b-1", "S-2", "b-1__S-2"},
		{"blog", "_private", "blog__private_"},
		{"blog_", "x", "blog__x_"},
		{"a__b", "c", "a__b_c_"},
		{"blog", "search.posts", "blog_search_posts_"},
		{"блог", "поиск", ""},
		{"blog", "with space/and:more", "blog_with_space_and_more_"},
		{"blog", sixty, "blog_nnnnn"},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		got := mcp.Name(tt.label, tt.tool)
		if !strings.HasPrefix(got, tt.want) || model.ToolName(got) != got || len(got) > 64 || seen[got] {
			t.Errorf("Name(%q, %q) = %q, want a valid new name that begins with %q", tt.label, tt.tool, got, tt.want)
		}
		seen[got] = true
		if again := mcp.Name(tt.label, tt.tool); again != got {
			t.Errorf("Name(%q, %q) = %q, then %q", tt.label, tt.tool, got, again)
		}
	}
	for _, pair := range [][4]string{{"a", "b_c", "a_b", "c"}, {"a", "_b", "a_", "b"}, {"a", "b__c", "a__b", "c"}, {"x", "a.b", "x", "a_b"}, {"x", sixty + "1", "x", sixty + "2"}} {
		if one, other := mcp.Name(pair[0], pair[1]), mcp.Name(pair[2], pair[3]); one == other {
			t.Errorf("%q is the name of two tools: %q", one, pair)
		}
	}
}

// FuzzName: names stay valid and apart.
func FuzzName(f *testing.F) {
	f.Add("a", "b__c", "a__b", "c")
	f.Add("a", "_b", "a_", "b")
	f.Fuzz(func(t *testing.T, label, name, label2, name2 string) {
		one, other := mcp.Name(label, name), mcp.Name(label2, name2)
		if model.ToolName(one) != one {
			t.Errorf("Name(%q, %q) = %q", label, name, one)
		}
		plain := strings.Contains(one, "__") && one == label+"__"+name
		if plain && one == other && other == label2+"__"+name2 && (label != label2 || name != name2) {
			t.Errorf("%q is %q %q and %q %q", one, label, name, label2, name2)
		}
	})
}

// TestP26OneBadTool: whatever names and schemas a server has, the request is one that a model service takes, tools that can be used
// are, under the names by which the server knows them, and the model is told of others.
func TestP26OneBadTool(t *testing.T) {
	sixty := strings.Repeat("n", 60)
	called := func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return said(r.Params.Name), nil
	}
	nested := `{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`
	schemas := map[string]string{
		"any":  `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`,
		"one":  `{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"number"}}}]}`,
		"all":  `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`,
		"ref":  `{"type":"object","$ref":"#/$defs/in","$defs":{"in":{"type":"object","properties":{"a":{"type":"string"}}}}}`,
		"nest": nested, "search.posts": `{"type":"object"}`, "search_posts": `{"type":"object"}`, "search posts": `{"type":"object"}`, sixty: `{"type":"object"}`,
		"huge": `{"type":"object","description":"` + strings.Repeat("x", 40_000) + `"}`,
	}
	srv := serve(t, listing(schemas, called))
	s := one(t, srv)
	if want := len(schemas) - 1; len(s.Tools()) != want || s.Note() != "1 tools of the MCP servers are not available." {
		t.Errorf("%d tools, want %d; note %q", len(s.Tools()), want, s.Note())
	}
	if err := tool.Registry(s.Tools()).Validate(); err != nil {
		t.Error(err)
	}
	specs := make([]model.ToolSpec, len(s.Tools()))
	for i, tl := range s.Tools() {
		specs[i] = tl.Spec().Model()
		if specs[i].Name == "lab__nest" && !strings.Contains(string(specs[i].Schema), `{"x":{"anyOf":[`) {
			t.Errorf("a nested anyOf became %s", specs[i].Schema)
		}
	}
	req := model.Request{ModelID: "m", Tools: specs, Messages: []model.Message{{Role: model.User, Content: []model.Block{{Text: "hi"}}}}}
	if err := model.Check(model.Build(req)); err != nil {
		t.Errorf("the request: %v", err)
	}
	for name := range schemas {
		if name != "huge" {
			if got := text(t, s, mcp.Name("lab", name), `{}`); got != name {
				t.Errorf("%q was called as %q", name, got)
			}
		}
	}
}

// listing is a server whose list of tools the SDK's own server would refuse to have.
func listing(schemas map[string]string, call sdk.ToolHandler) http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: "lab", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			switch method {
			case "tools/list":
				out := &sdk.ListToolsResult{}
				for name, schema := range schemas {
					out.Tools = append(out.Tools, &sdk.Tool{Name: name, Description: "x", InputSchema: json.RawMessage(schema)})
				}
				return out, nil
			case "tools/call":
				return call(ctx, r.(*sdk.CallToolRequest))
			}
			return next(ctx, method, r)
		}
	})
	return streamable(s)
}

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
	if s := one(t, serve(t, paged(700, 100, false))); len(s.Tools()) != mcp.MaxTools || !strings.Contains(s.Note(), "tools of the MCP servers are not available") {
		t.Errorf("of 700 tools there are %d, note %q", len(s.Tools()), s.Note())
	}
	endless := serve(t, paged(3, 1, true))
	if s := one(t, endless); len(s.Tools()) != 3 || endless.count("tools/list") > 300 {
		t.Errorf("%d tools after %d pages", len(s.Tools()), endless.count("tools/list"))
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
			if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
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
	if fault.Public(err) != "MCP server lab: it did not answer in time" || time.Since(began) > 3*time.Second {
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
	if err := s.Close(); err != nil || time.Since(began) > 4*time.Second {
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
