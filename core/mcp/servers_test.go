package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// rich returns everything that a result may hold.
func rich(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{
		&sdk.TextContent{Text: "see"}, &sdk.TextContent{}, &sdk.ImageContent{Data: []byte("1234"), MIMEType: "image/png"},
		&sdk.AudioContent{Data: []byte("12"), MIMEType: "audio/wav"}, &sdk.ResourceLink{URI: "file:///a", Name: "a", Title: "First"},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", Text: "words"}},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///c", MIMEType: "x/y", Blob: []byte("123")}},
	}}, nil
}

func structured(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"n": 1}}, nil
}

const richText = "see[image image/png left out: 4 bytes][audio audio/wav left out: 2 bytes]Resource file:///a: First" +
	"Resource file:///b:\nwordsResource file:///c: [file x/y left out: 3 bytes]"

// TestRealServers: each transport that servers speak, with servers of the official SDK.
func TestRealServers(t *testing.T) {
	for name, transport := range map[string]func(*sdk.Server) http.Handler{
		"current": current, "stateful": streamable, "stateless": stateless, "sse": sse,
	} {
		t.Run(name, func(t *testing.T) {
			s := one(t, serve(t, transport(newServer(adding("rich", `{"type":"object"}`, rich), adding("structured", `{"type":"object"}`, structured)))))
			if diff := cmp.Diff([]string{"lab__fail", "lab__greet", "lab__rich", "lab__structured"}, tool.Registry(s.Tools()).Names()); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if err := tool.Registry(s.Tools()).Validate(); err != nil {
				t.Error(err)
			}
			for _, c := range []struct{ name, input, want string }{
				{"lab__greet", `{"name":"ada"}`, "hello ada"},
				{"lab__greet", `{"name":7}`, "error: "},
				{"lab__fail", ``, "error: 404 Not Found: no such session"},
				{"lab__rich", `null`, richText},
				{"lab__structured", `{}`, `{"n":1}`},
			} {
				if got := text(t, s, c.name, c.input); !strings.HasPrefix(got, c.want) {
					t.Errorf("%s(%s) = %q, want %q", c.name, c.input, got, c.want)
				}
			}
			if s.Note() != "" || len(s.Missing()) != 0 {
				t.Errorf("note %q, missing %v", s.Note(), s.Missing())
			}
		})
	}
}

// TestSpecOfATool: what the model is told of it, that reads may be repeated, and that what destroys may not.
func TestSpecOfATool(t *testing.T) {
	s := one(t, serve(t, current(newServer(func(s *sdk.Server) {
		s.AddTool(&sdk.Tool{Name: "bare", InputSchema: map[string]any{"type": "object"}}, answering(""))
		s.AddTool(&sdk.Tool{Name: "titled", Title: "Has a title", InputSchema: map[string]any{"type": "object"}}, answering(""))
		yes := true
		s.AddTool(&sdk.Tool{Name: "drop", Description: "Drops.", InputSchema: map[string]any{"type": "object"}, Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes}}, answering(""))
		s.AddTool(&sdk.Tool{Name: "wipe", Description: "Wipes.", InputSchema: map[string]any{"type": "object"},
			Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true}}, answering(""))
		s.AddTool(&sdk.Tool{Name: "wordy", Description: strings.Repeat("x", 9000), InputSchema: map[string]any{"type": "object"}}, answering(""))
	}))))
	got := map[string]string{}
	for _, tl := range s.Tools() {
		spec := tl.Spec()
		got[spec.Name] = spec.Description[:min(len(spec.Description), 40)]
		if spec.ReadOnly != (spec.Name == "lab__greet") || spec.Once != (spec.Name == "lab__drop") || len(spec.Description) > 4096 {
			t.Errorf("%s: read only %t, once %t, %d bytes of description", spec.Name, spec.ReadOnly, spec.Once, len(spec.Description))
		}
	}
	want := map[string]string{
		"lab__bare": "The tool bare of the MCP server lab.", "lab__drop": "Drops.", "lab__wipe": "Wipes.", "lab__fail": "Fails.", "lab__greet": "Greets.", "lab__titled": "Has a title",
		"lab__wordy": strings.Repeat("x", 40),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("descriptions (-want +got):\n%s", diff)
	}
}

// TestContinueOnError: what cannot be connected fails the turn, or is missing and told, as its spec says. What is disabled is not
// even asked.
func TestContinueOnError(t *testing.T) {
	good, bad := serve(t, current(newServer())), serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "secret words", http.StatusUnauthorized)
	}))
	d := dialer(good, bad)
	broken := bad.spec()
	specs := map[string]contract.MCPServer{"good": good.spec(), "bad": broken}
	_, err := d.Connect(t.Context(), specs)
	if !fault.Is(err, fault.Unavailable) || fault.ReasonOf(err) != "mcp_unavailable" || fault.Public(err) != "MCP server bad: it answered with status 401" {
		t.Errorf("Connect = %v, want Unavailable that names the server", err)
	}
	broken.ContinueOnError = true
	specs["bad"] = broken
	s := connect(t, d, specs)
	if got, want := s.Note(), `The tools of the MCP server "bad" are not available now: it answered with status 401.`; got != want {
		t.Errorf("note = %q, want %q", got, want)
	}
	if got := text(t, s, "good__greet", `{"name":"bob"}`); got != "hello bob" {
		t.Errorf("greet = %q", got)
	}
	asked := len(bad.requests())
	broken.ContinueOnError, broken.Disabled = false, true
	specs["bad"] = broken
	if s := connect(t, d, specs); s.Note() != "" || len(s.Tools()) != 2 || len(bad.requests()) != asked {
		t.Errorf("disabled: note %q, %d tools, %d more requests", s.Note(), len(s.Tools()), len(bad.requests())-asked)
	}
	if s := connect(t, d, nil); len(s.Tools()) != 0 || s.Note() != "" {
		t.Errorf("no servers: %v", s.Tools())
	}
}

// TestWithoutTools: a server need not have tools.
func TestWithoutTools(t *testing.T) {
	s := one(t, serve(t, current(sdk.NewServer(&sdk.Implementation{Name: "lab", Version: "1"}, nil))))
	if len(s.Tools()) != 0 || s.Note() != "" {
		t.Errorf("tools %v, note %q", s.Tools(), s.Note())
	}
}

// TestReadsAreRepeated: a read that fails on the way is asked again, anything else is not.
func TestReadsAreRepeated(t *testing.T) {
	srv := serve(t, streamable(newServer(adding("write", `{"type":"object"}`, answering("written")))))
	s := one(t, srv)
	var failures int
	srv.interfere(func(w http.ResponseWriter, r request) bool {
		if r.RPC != "tools/call" || failures == 0 {
			return false
		}
		failures--
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	failures = 1
	if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
		t.Errorf("a read = %q", got)
	}
	failures = 1
	if got := text(t, s, "lab__write", `{}`); !strings.Contains(got, "status 502; whether the call was run is not known") {
		t.Errorf("a write = %q", got)
	}
	if got := text(t, s, "lab__write", `{}`); got != "written" {
		t.Errorf("the next write = %q: the connection is good", got)
	}
}

// TestHTTPS: a server as it is in public, by HTTP/2 if it speaks it.
func TestHTTPS(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(streamable(newServer()))
		srv.EnableHTTP2 = h2
		srv.StartTLS()
		t.Cleanup(srv.Close)
		d := dialer()
		d.AllowedHosts, d.Transport = contract.MCPHosts{"127.0.0.1"}, srv.Client().Transport
		specs := map[string]contract.MCPServer{"lab": {URL: srv.URL + "/mcp"}}
		s := connect(t, d, specs)
		if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
			t.Errorf("HTTP/2 %t: %q", h2, got)
		}
		_ = s.Close()
		d.Transport = nil // which trusts public authorities
		if _, err := d.Connect(t.Context(), specs); !strings.Contains(fault.Public(err), "its certificate is not trusted") {
			t.Errorf("with a certificate that nobody vouches for: %v", err)
		}
	}
}

// TestZeroDialer allows what the environment allows.
func TestZeroDialer(t *testing.T) {
	srv := serve(t, current(newServer()))
	specs := map[string]contract.MCPServer{"lab": srv.spec()}
	t.Setenv("MCP_ALLOWED_HOSTS", "")
	if _, err := (mcp.Dialer{}).Connect(t.Context(), specs); !fault.Is(err, fault.Invalid) {
		t.Errorf("nothing is allowed: %v, want Invalid", err)
	}
	t.Setenv("MCP_ALLOWED_HOSTS", "mcp.example.com, "+srv.host())
	s, err := mcp.Dialer{}.Connect(t.Context(), specs)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
		t.Errorf("greet = %q", got)
	}
	if err := s.Close(); err != nil || s.Close() != nil {
		t.Errorf("Close = %v", err)
	}
}
