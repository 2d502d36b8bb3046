package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// turn lends the servers of a session, calls greet, and gives them back. It tells what was said and the note.
func turn(t *testing.T, w *mcp.Warm, session string, specs map[string]contract.MCPServer) (said, note string) {
	t.Helper()
	tools, note, giveBack, err := w.Lend(t.Context(), session, specs)
	if err != nil {
		t.Fatal(err)
	}
	defer giveBack()
	found, _ := tool.Registry(tools).Pick("lab__greet")
	if len(found) == 0 {
		return "no tool", note
	}
	out, err := tool.Limit(found[0], 0).Call(tool.Context{Context: t.Context()}, []byte(`{"name":"ada"}`))
	if err != nil {
		return err.Error(), note
	}
	parts, err := tool.Content(out)
	if err != nil {
		t.Fatal(err)
	}
	return parts[0].Text, note
}

// TestWarm: the next turn of a session finds its servers connected; nobody else does, nor the same session with other headers, nor
// after their time.
func TestWarm(t *testing.T) {
	srv := serve(t, streamable(newServer()))
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	w := &mcp.Warm{Dialer: dialer(srv), Keep: 2, Now: func() time.Time { return now }}
	t.Cleanup(func() { _ = w.Close() })
	specs := map[string]contract.MCPServer{"lab": srv.spec()}
	mine := srv.spec()
	mine.AuthHeader = &contract.AuthHeader{Name: "x-auth", Value: "ada's"}
	steps := []struct {
		name, session string
		specs         map[string]contract.MCPServer
		after         time.Duration
		connects      int
	}{
		{"the first turn", "s-1", specs, 0, 1},
		{"the next", "s-1", specs, time.Minute, 0},
		{"another session", "s-2", specs, 0, 1},
		{"the first session again", "s-1", specs, 0, 0},
		{"with a user's header", "s-1", map[string]contract.MCPServer{"lab": mine}, 0, 1},
		{"and without", "s-1", specs, 0, 1},
		{"a third session", "s-3", specs, 0, 1},
		{"the one not used for longest is gone", "s-2", specs, 0, 1},
		{"the last is there", "s-3", specs, 0, 0},
		{"a long time later", "s-3", specs, 11 * time.Minute, 1},
	}
	for _, step := range steps {
		now = now.Add(step.after)
		before := srv.count("initialize")
		if said, note := turn(t, w, step.session, step.specs); said != "hello ada" || note != "" {
			t.Fatalf("%s: %q, note %q", step.name, said, note)
		}
		if n := srv.count("initialize") - before; n != step.connects {
			t.Errorf("%s: connected %d times, want %d", step.name, n, step.connects)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	open := map[string]bool{} // sessions of the protocol that were not ended
	for _, r := range srv.requests() {
		if id := r.Header.Get("Mcp-Session-Id"); id != "" {
			open[id] = r.HTTP != http.MethodDelete && open[id] || r.HTTP == http.MethodPost
		}
	}
	for id, left := range open {
		if left {
			t.Errorf("session %s was not ended", id)
		}
	}
}

// TestWarmForgotten: a server that forgot the session between two turns is connected anew in the middle of the second.
func TestWarmForgotten(t *testing.T) {
	srv := serve(t, streamable(newServer()))
	w := &mcp.Warm{Dialer: dialer(srv)}
	t.Cleanup(func() { _ = w.Close() })
	specs := map[string]contract.MCPServer{"lab": srv.spec()}
	turn(t, w, "s-1", specs)
	forgets(srv, http.StatusNotFound, "")
	srv.CloseClientConnections()
	if said, _ := turn(t, w, "s-1", specs); said != "hello ada" {
		t.Errorf("the next turn: %q", said)
	}
	if n := srv.count("initialize"); n != 2 {
		t.Errorf("%d times initialized, want 2", n)
	}
}

// TestASlowServerRests: one that let its time pass costs the turns after no time, is told as missing, and is asked again later; one that
// must be there is asked in every turn.
func TestASlowServerRests(t *testing.T) {
	t.Parallel()
	good := serve(t, streamable(newServer()))
	slow := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	w := &mcp.Warm{Dialer: dialer(good, slow), Now: func() time.Time { return now }}
	w.Dialer.ConnectTimeout = 3 * time.Second // the good one's too, on a busy machine
	t.Cleanup(func() { _ = w.Close() })
	spec := slow.spec()
	spec.ContinueOnError = true
	specs := map[string]contract.MCPServer{"lab": good.spec(), "slow": spec}
	for _, step := range []struct {
		name  string
		after time.Duration
		asked bool
	}{{"the first turn", 0, true}, {"the next", time.Second, false}, {"soon after", mcp.RestSlow - 2*time.Second, false}, {"later", 2 * time.Second, true}} {
		now = now.Add(step.after)
		before := len(slow.requests())
		if said, note := turn(t, w, "s-1", specs); said != "hello ada" || !strings.Contains(note, `"slow" are not available now: it did not answer in time`) {
			t.Errorf("%s: %q, note %q", step.name, said, note)
		}
		if asked := len(slow.requests()) > before; asked != step.asked {
			t.Errorf("%s: the slow server was asked: %t, want %t", step.name, asked, step.asked)
		}
	}
	w.Dialer.ConnectTimeout = 100 * time.Millisecond // now it is alone
	before := len(slow.requests())
	if _, note, _, err := w.Lend(t.Context(), "s-2", map[string]contract.MCPServer{"slow": spec}); err != nil || note == "" || len(slow.requests()) == before {
		t.Errorf("another session: note %q, %v, want the server asked", note, err)
	}
	before = len(slow.requests())
	if _, _, _, err := w.Lend(t.Context(), "s-1", map[string]contract.MCPServer{"slow": slow.spec()}); !fault.Is(err, fault.Unavailable) || len(slow.requests()) == before {
		t.Errorf("a server that must be there: %v", err)
	}
}

// TestNotKept: what cannot serve a later turn as well is connected anew: a server that is missing, and one of the old transport.
func TestNotKept(t *testing.T) {
	good, away := serve(t, streamable(newServer())), serve(t, streamable(newServer()))
	away.interfere(func(w http.ResponseWriter, _ request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	w := &mcp.Warm{Dialer: dialer(good, away)}
	spec := away.spec()
	spec.ContinueOnError = true
	specs := map[string]contract.MCPServer{"lab": good.spec(), "away": spec}
	if said, note := turn(t, w, "s-1", specs); said != "hello ada" || !strings.Contains(note, `"away"`) {
		t.Errorf("without one: %q, note %q", said, note)
	}
	away.interfere(nil)
	if said, note := turn(t, w, "s-1", specs); said != "hello ada" || note != "" {
		t.Errorf("with it again: %q, note %q", said, note)
	}
	if n := good.count("initialize"); n != 2 {
		t.Errorf("%d times initialized, want 2", n)
	}
	_ = w.Close()
	old := serve(t, sse(newServer()))
	w = &mcp.Warm{Dialer: dialer(old)}
	for range 2 {
		if said, _ := turn(t, w, "s-1", map[string]contract.MCPServer{"lab": old.spec()}); said != "hello ada" {
			t.Errorf("old transport: %q", said)
		}
	}
	if n := old.count("initialize"); n != 4 { // each time tried as the current transport first
		t.Errorf("%d times initialized, want 4", n)
	}
}

// TestLendFails: without servers nothing happens; a server that fails is an error, and nothing is to be given back.
func TestLendFails(t *testing.T) {
	w := &mcp.Warm{Dialer: dialer(), Keep: -1}
	tools, note, giveBack, err := w.Lend(t.Context(), "s-1", nil)
	if err != nil || len(tools) != 0 || note != "" {
		t.Errorf("no servers: %v, %q, %v", tools, note, err)
	}
	giveBack()
	if _, _, _, err := w.Lend(t.Context(), "s-1", map[string]contract.MCPServer{"lab": {URL: "https://mcp.example.com/"}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("Lend = %v, want Invalid", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	srv := serve(t, streamable(newServer()))
	w.Dialer = dialer(srv)
	if _, _, _, err := w.Lend(ctx, "s-1", map[string]contract.MCPServer{"lab": srv.spec()}); err == nil {
		t.Error("Lend of an ended turn worked")
	}
	specs := map[string]contract.MCPServer{"lab": srv.spec()}
	before := srv.count("initialize")
	turn(t, w, "s-1", specs)
	turn(t, w, "s-1", specs)
	if n := srv.count("initialize") - before; n != 2 {
		t.Errorf("keeping none: connected %d times, want 2", n)
	}
}
