package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// streamOf asks where a session's stream is.
func (s stack) streamOf(user, id string) string {
	s.t.Helper()
	at, _ := s.as(user, "POST", "/agent/connect", fmt.Sprintf(`{"sessionId":%q}`, id)).is(s.t, 200)["streamUrl"].(string)
	if at == "" {
		s.t.Fatal("connect names no stream")
	}
	return at
}

// get opens a stream.
func (s stack) get(token, at string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, at, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// TestStream: what was is replayed and what comes is followed, without a gap, while the turn still talks.
func TestStream(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	p := s.connect("ada", "")
	p.ask(id, "What time is it?")
	before := len(s.story(t, id))
	at := s.streamOf("ada", id)
	resp := s.get(s.token("ada"), at+"?seconds=20")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("stream: %s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	p.say(id, "say 100 words slow 20 ms")
	var told story
	early := false // a piece of the answer was told while more of it was to come
	for lines := bufio.NewScanner(resp.Body); len(told) == 0 || told[len(told)-1].Type != "session.waiting" || len(told) <= before; {
		if !lines.Scan() {
			t.Fatalf("the stream ended after %d events: %v", len(told), lines.Err())
		}
		if len(lines.Bytes()) == 0 {
			continue // a sign of life
		}
		var e contract.SessionEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		told = append(told, e)
		if e.Type == "message.appended" && len(told) > before && !early {
			state, err := s.table.State(t.Context(), id)
			early = err == nil && state.Owner != ""
		}
	}
	if !early {
		t.Error("nothing of the answer was told before its end")
	}
	if diff := cmp.Diff(s.story(t, id), told); diff != "" {
		t.Errorf("events (-stored +told):\n%s", diff)
	}
	rest, err := io.ReadAll(s.get(s.token("ada"), fmt.Sprintf("%s?until=idle&startIndex=%d", at, len(told)-1)).Body)
	if err != nil {
		t.Fatal(err)
	}
	var last contract.SessionEvent
	if err := json.Unmarshal(rest, &last); err != nil || last.Index != int64(len(told)-1) {
		t.Errorf("from the last event on until idle: %s, %v", rest, err)
	}
}

// TestStreamIsTheOwners: nothing stands before the stream but itself.
func TestStreamIsTheOwners(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	s.connect("ada", "").ask(id, "my name is Ada")
	at := s.streamOf("ada", id)
	for what, token := range s.wrongTokens() {
		if got := s.get(token, at); got.StatusCode != 401 {
			t.Errorf("%s: %s", what, got.Status)
		}
	}
	if got := s.get(s.token("bob"), at); got.StatusCode != 403 {
		t.Errorf("somebody else: %s", got.Status)
	}
	if got := s.get(s.token("ada"), at+"?startIndex=x"); got.StatusCode != 400 {
		t.Errorf("a wrong index: %s", got.Status)
	}
}
