package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// TestHeaders: what a recording server gets. Every request of every transport carries the headers: authHeader as it was minted, which
// nothing takes the place of, and of the host's variables those alone whose names begin with MCP_.
func TestHeaders(t *testing.T) {
	const minted = "eyJ0IjoxfQ.c2ln+/= ${MCP_TOKEN} ${env:MCP_TOKEN} $AWS_SECRET_ACCESS_KEY"
	t.Setenv("AWS_SECRET_ACCESS_KEY", "top-secret")
	t.Setenv("NOT_MCP_X", "hidden")
	t.Setenv("MCP_TOKEN", "tok-1")
	for name, transport := range map[string]func(*sdk.Server) http.Handler{
		"current": current, "stateful": streamable, "stateless": stateless, "sse": sse,
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, transport(newServer()))
			d := dialer(srv)
			d.LookupEnv = nil // the process's own environment
			spec := srv.spec()
			spec.AuthHeader = &contract.AuthHeader{Name: "x-booked-auth", Value: minted}
			spec.Headers = map[string]string{
				"X-BOOKED-AUTH": "forged", "x-api-version": "2025-01", "authorization": "Bearer ${MCP_TOKEN}",
				"x-env": "${env:MCP_TOKEN}/${MCP_TOKEN}", "x-secret": "${AWS_SECRET_ACCESS_KEY}", "x-env-secret": "${env:AWS_SECRET_ACCESS_KEY}",
				"x-other": "${NOT_MCP_X} ${mcp_token} $MCP_TOKEN ${MCP_TOKEN ${}",
			}
			s := connect(t, d, map[string]contract.MCPServer{"lab": spec})
			if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
				t.Fatalf("greet = %q", got)
			}
			_ = s.Close()
			want := map[string][]string{
				"X-Booked-Auth": {minted}, "X-Api-Version": {"2025-01"}, "Authorization": {"Bearer tok-1"}, "X-Env": {"tok-1/tok-1"},
				"X-Secret": {"${AWS_SECRET_ACCESS_KEY}"}, "X-Env-Secret": {"${env:AWS_SECRET_ACCESS_KEY}"},
				"X-Other": {"${NOT_MCP_X} ${mcp_token} $MCP_TOKEN ${MCP_TOKEN ${}"},
			}
			all := srv.requests()
			if len(all) < 3 {
				t.Fatalf("%d requests", len(all))
			}
			for _, r := range all {
				got := map[string][]string{}
				for h := range want {
					got[h] = r.Header.Values(h)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %s (-want +got):\n%s", r.HTTP, r.RPC, diff)
				}
			}
		})
	}
}

// TestHeadersThatFail: a server whose headers cannot be made is not asked without them.
func TestHeadersThatFail(t *testing.T) {
	srv := serve(t, current(newServer()))
	t.Setenv("MCP_LINES", "a\r\nx-injected: 1")
	for _, tt := range []struct{ name, value, want string }{
		{"a variable that is not set", "Bearer ${MCP_NOWHERE}", "its header Authorization names the variable MCP_NOWHERE, which the host does not have"},
		{"a variable of two lines", "${MCP_LINES}", "its header Authorization is no text on one line"},
		{"two lines", "a\nb", "mcpServers.lab.headers.Authorization: must be text on one line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := dialer(srv)
			d.LookupEnv = nil
			spec := srv.spec()
			spec.Headers = map[string]string{"Authorization": tt.value}
			if _, err := d.Connect(t.Context(), map[string]contract.MCPServer{"lab": spec}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Connect = %v, want %q", err, tt.want)
			}
		})
	}
	if got := srv.requests(); len(got) != 0 {
		t.Errorf("the server was asked: %v", got)
	}
}

// TestAllowedHosts: what is not on the host's list is not asked, and a server that is started by a command never is.
func TestAllowedHosts(t *testing.T) {
	srv := serve(t, current(newServer()))
	port := srv.URL[strings.LastIndexByte(srv.URL, ':')+1:]
	tests := []struct {
		name  string
		hosts contract.MCPHosts
		spec  contract.MCPServer
		want  string
	}{
		{"an empty list", contract.MCPHosts{}, srv.spec(), "must be an https URL"},
		{"an empty list, https", contract.MCPHosts{}, contract.MCPServer{URL: "https://mcp.example.com/"}, `host "mcp.example.com" is not allowed`},
		{"another host", contract.MCPHosts{"mcp.example.com"}, contract.MCPServer{URL: "https://127.0.0.1:" + port}, "is not allowed"},
		{"plain http to a host that is listed for https", contract.MCPHosts{"127.0.0.1:" + port}, srv.spec(), "must be an https URL"},
		{"another port of plain http", contract.MCPHosts{"http://127.0.0.1:1"}, srv.spec(), "must be an https URL"},
		{"a name that leads inside", contract.MCPHosts{"localhost"}, contract.MCPServer{URL: "https://localhost:" + port}, "an address that may not be asked"},
		{"a command", contract.MCPHosts{srv.host()}, contract.MCPServer{Command: "touch", Args: []string{"/tmp/x"}}, "started by a command"},
		{"a command and a URL", contract.MCPHosts{srv.host()}, contract.MCPServer{Command: "touch", URL: srv.URL}, "started by a command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := dialer()
			d.AllowedHosts = tt.hosts
			_, err := d.Connect(t.Context(), map[string]contract.MCPServer{"lab": tt.spec})
			if err == nil || !strings.Contains(fault.Public(err), tt.want) {
				t.Errorf("Connect = %v, want %q", err, tt.want)
			}
		})
	}
	if got := srv.requests(); len(got) != 0 {
		t.Errorf("the server was asked: %v", got)
	}
	d := dialer()
	d.AllowedHosts = contract.MCPHosts{"mcp.example.com", "http://localhost:" + port}
	s := connect(t, d, map[string]contract.MCPServer{"lab": {URL: "http://localhost:" + port + "/mcp"}})
	if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
		t.Errorf("a loopback host that is listed: %q", got)
	}
}

// TestElsewhere: a server cannot send us, and the headers, to another host: neither by a redirect nor by the old transport's
// address for messages. Within itself it may redirect.
func TestElsewhere(t *testing.T) {
	trap := serve(t, current(newServer()))
	tests := map[string]http.Handler{
		"redirect": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, trap.URL+"/mcp", http.StatusTemporaryRedirect)
		}),
		"see other": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusSeeOther)
		}),
		"endpoint": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.Error(w, "no", http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("event: endpoint\ndata: " + trap.URL + "/mcp\n\n"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}),
	}
	for name, h := range tests {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, h)
			d := dialer(srv, trap) // even though it would be allowed itself
			spec := srv.spec()
			spec.AuthHeader = &contract.AuthHeader{Name: "x-auth", Value: "minted"}
			_, err := d.Connect(t.Context(), map[string]contract.MCPServer{"lab": spec})
			if err == nil || !strings.Contains(fault.Public(err), "it points to another host") {
				t.Errorf("Connect = %v", err)
			}
		})
	}
	if got := trap.requests(); len(got) != 0 {
		t.Errorf("another host was asked: %v", got)
	}
	inner := current(newServer())
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	if got := text(t, one(t, srv), "lab__greet", `{"name":"ada"}`); got != "hello ada" {
		t.Errorf("behind a redirect of its own: %q", got)
	}
}
