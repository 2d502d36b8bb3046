package mcp_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// forgets makes a server refuse the sessions that it has had so far, with the given answer.
func forgets(s *server, status int, body string) {
	old := map[string]bool{}
	for _, r := range s.requests() {
		old[r.Header.Get("Mcp-Session-Id")] = true
	}
	delete(old, "")
	s.interfere(func(w http.ResponseWriter, r request) bool {
		if !old[r.Header.Get("Mcp-Session-Id")] {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
		return true
	})
}

// TestP25SessionLost: a server that has forgotten the session is asked once more on a new one, and the model does not notice.
func TestP25SessionLost(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
	}{
		{"not found", "Not Found\n", 404},
		{"not found, as an error of the protocol", `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`, 404},
		{"a bad request about the session", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, streamable(newServer()))
			s := one(t, srv)
			if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
				t.Fatalf("before: %q", got)
			}
			forgets(srv, tt.status, tt.body)
			for _, who := range []string{"bob", "cy"} {
				if got := text(t, s, "lab__greet", `{"name":"`+who+`"}`); got != "hello "+who {
					t.Errorf("after: %q", got)
				}
			}
			if n, lists := srv.count("initialize"), srv.count("tools/list"); n != 2 || lists != 2 {
				t.Errorf("%d times initialized, %d times listed, want 2 and 2", n, lists)
			}
		})
	}
}

// TestP25TwoCallersOneSession: two calls that meet the loss at the same time share one new session.
func TestP25TwoCallersOneSession(t *testing.T) {
	srv := serve(t, streamable(newServer()))
	s := one(t, srv)
	forgets(srv, http.StatusNotFound, "")
	var both sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		both.Go(func() { got[i] = text(t, s, "lab__greet", `{"name":"ada"}`) })
	}
	both.Wait()
	if strings.Join(got, ",") != strings.TrimSuffix(strings.Repeat("hello ada,", len(got)), ",") {
		t.Errorf("got %q", got)
	}
	if n := srv.count("initialize"); n != 2 {
		t.Errorf("%d times initialized, want 2", n)
	}
}

// TestP25RefusedAgain: where the new session is refused too, or lost at once, the model gets an error, and a later call may work.
func TestP25RefusedAgain(t *testing.T) {
	srv := serve(t, streamable(newServer()))
	s := one(t, srv)
	refuse := func(status int, when func(request) bool) {
		srv.interfere(func(w http.ResponseWriter, r request) bool {
			if when(r) {
				w.WriteHeader(status)
			}
			return when(r)
		})
	}
	before := srv.count("initialize")
	refuse(http.StatusNotFound, func(r request) bool { return r.RPC == "tools/call" })
	if got := text(t, s, "lab__fail", `{}`); got != "error: the MCP server lab has lost the session again; the call was not run" {
		t.Errorf("lost at once: %q", got)
	}
	if n := srv.count("initialize") - before; n != 1 {
		t.Errorf("%d more times initialized, want 1", n)
	}
	refuse(http.StatusNotFound, func(r request) bool { return r.RPC == "tools/call" || r.RPC == "initialize" })
	if got := text(t, s, "lab__fail", `{}`); !strings.HasPrefix(got, "error: the MCP server lab has lost the session, and a new one failed: it answered with status") {
		t.Errorf("refused: %q", got)
	}
	srv.interfere(nil)
	if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
		t.Errorf("later: %q", got)
	}
}

// TestP25NotFoundInAnAnswer: a tool's own answer that speaks of a session that is not found changes nothing.
func TestP25NotFoundInAnAnswer(t *testing.T) {
	srv := serve(t, streamable(newServer()))
	s := one(t, srv)
	if got := text(t, s, "lab__fail", `{}`); got != "error: 404 Not Found: no such session" {
		t.Errorf("fail = %q", got)
	}
	if n := srv.count("initialize"); n != 1 {
		t.Errorf("%d times initialized, want 1", n)
	}
}

// TestToolGoneWithTheSession: the new session may not have the tool any more.
func TestToolGoneWithTheSession(t *testing.T) {
	old, fresh := newServer(adding("extra", `{"type":"object"}`, answering("extra"))), newServer()
	now := old
	var mu sync.Mutex
	h := legacy(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		mu.Lock()
		defer mu.Unlock()
		return now
	}, nil))
	srv := serve(t, h)
	s := one(t, srv)
	forgets(srv, http.StatusNotFound, "")
	mu.Lock()
	now = fresh
	mu.Unlock()
	if got := text(t, s, "lab__extra", `{}`); got != `error: the MCP server lab has no tool "extra" any more` {
		t.Errorf("extra = %q", got)
	}
	if n := srv.count("tools/call"); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

// TestOldTransportEnds: when the old transport's stream ends, a later call gets another one.
func TestOldTransportEnds(t *testing.T) {
	srv := serve(t, sse(newServer()))
	s := one(t, srv)
	if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
		t.Fatalf("before: %q", got)
	}
	srv.CloseClientConnections() // its stream ends
	for {                        // the end may come while the next call is under way, which then fails
		got := text(t, s, "lab__greet", `{"name":"bob"}`)
		if got == "hello bob" {
			break
		}
		if !strings.HasPrefix(got, "error: the MCP server lab") {
			t.Fatalf("after: %q", got)
		}
	}
}
