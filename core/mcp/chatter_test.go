package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/mcp"
)

// chatty is a server whose calls are answered by lines of the protocol, %s where the id of the call stands.
func chatty(t *testing.T, lines ...string) *server {
	t.Helper()
	inner := streamable(newServer())
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var rpc struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &rpc)
		if rpc.Method != "tools/call" {
			r.Body = io.NopCloser(bytes.NewReader(body))
			inner.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, line := range lines {
			_, _ = fmt.Fprintf(w, "event: message\ndata: "+line+"\n\n", rpc.ID)
			w.(http.Flusher).Flush()
		}
	}))
}

const (
	answered = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hello ada"}]}}`
	again    = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"and again"}]}}`
)

// TestChatterInACall: what a server says beside its answer, and asks of its client, changes nothing.
func TestChatterInACall(t *testing.T) {
	for name, lines := range map[string][]string{
		"progress and log": {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%[1]s,"progress":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%.0[1]s"}}`, answered},
		"an unknown notification": {`{"jsonrpc":"2.0","method":"notifications/%.0[1]sother","params":{}}`, answered},
		"it asks":                 {`{"jsonrpc":"2.0","id":900%.0[1]s,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, `{"jsonrpc":"2.0","id":901%.0[1]s,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":902%.0[1]s,"method":"elicitation/create","params":{"message":"your password?","requestedSchema":{"type":"object","properties":{}}}}`, answered},
		"a ping":                  {`{"jsonrpc":"2.0","id":"p%.0[1]s","method":"ping"}`, answered},
		"answers to nobody":       {`{"jsonrpc":"2.0","id":4711%.0[1]s,"result":{}}`, answered},
		"answered twice":          {answered, again},
		"the list has changed":    {`{"jsonrpc":"2.0","method":"notifications/tools/list_changed%.0[1]s"}`, answered},
	} {
		t.Run(name, func(t *testing.T) {
			s := one(t, chatty(t, lines...))
			for range 2 {
				if got := text(t, s, "lab__greet", `{"name":"ada"}`); got != "hello ada" {
					t.Errorf("greet = %q", got)
				}
			}
		})
	}
}

// TestAChangedListIsReadAgain, in a later turn, also where the servers are kept.
func TestAChangedListIsReadAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		again bool
	}{
		"changed": {[]string{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed%.0[1]s"}`, answered}, true},
		"as ever": {[]string{answered}, false},
	} {
		t.Run(name, func(t *testing.T) {
			srv := chatty(t, tt.lines...)
			w := &mcp.Warm{Dialer: dialer(srv)}
			t.Cleanup(func() { _ = w.Close() })
			for range 50 { // what is no answer is taken note of a little later
				tools, _, giveBack, err := w.Lend(t.Context(), "s-1", map[string]contract.MCPServer{"lab": srv.spec()})
				if err != nil {
					t.Fatal(err)
				}
				if got, err := calling(t.Context(), tools, "lab__greet", `{"name":"ada"}`); err != nil || got != "hello ada" {
					t.Errorf("greet = %q, %v", got, err)
				}
				giveBack()
			}
			if got := srv.count("tools/list"); (got > 1) != tt.again {
				t.Errorf("the list was read %d times, again: %t", got, tt.again)
			}
		})
	}
}
