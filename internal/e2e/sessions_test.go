package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// TestSessionsOverHTTP goes through the life of a session as its owner sees it.
func TestSessionsOverHTTP(t *testing.T) {
	t.Parallel()
	s, user := shared(t), "user-"+uuid.NewString()
	made := s.as(user, "POST", "/agent/sessions", `{"title":"Notes","systemPrompt":"You are terse."}`).is(t, 201)
	id, _ := made["sessionId"].(string)
	if _, err := uuid.Parse(id); err != nil || made["title"] != "Notes" || made["continuationToken"] == "" {
		t.Fatalf("created = %v", made)
	}
	got := s.as(user, "GET", "/agent/sessions/"+id, "").is(t, 200)
	if got["continuationToken"] != made["continuationToken"] || got["status"] != "waiting" || got["mode"] != "chat" || got["title"] != "Notes" {
		t.Errorf("read = %v, created = %v", got, made)
	}
	there := s.as(user, "POST", "/agent/connect", fmt.Sprintf(`{"sessionId":%q}`, id)).is(t, 200)
	if there["sessionId"] != id || there["wsUrl"] != s.info.WS {
		t.Errorf("connect = %v, want %s", there, s.info.WS)
	}
	contains(t, "the answer", s.connect(user, "").ask(id, "What are your instructions?").text, "You are terse.")

	var ids []string
	for range 4 {
		ids = append(ids, s.as(user, "POST", "/agent/sessions", "").is(t, 201)["sessionId"].(string))
	}
	if diff := cmp.Diff([]string{ids[3], ids[2], ids[1], ids[0], id}, s.listed(user, 2)); diff != "" {
		t.Errorf("sessions, newest first (-want +got):\n%s", diff)
	}
}

// listed reads the list of user's sessions page by page.
func (s stack) listed(user string, limit int) []string {
	s.t.Helper()
	var ids []string
	for cursor := ""; ; {
		got := s.as(user, "GET", fmt.Sprintf("/agent/sessions?limit=%d&cursor=%s", limit, cursor), "")
		got.is(s.t, 200)
		var page struct {
			Sessions []struct{ SessionID string }
			Cursor   string
		}
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || len(page.Sessions) > limit {
			s.t.Fatalf("page = %s, %v", got.body, err)
		}
		for _, one := range page.Sessions {
			ids = append(ids, one.SessionID)
		}
		if cursor = page.Cursor; cursor == "" {
			return ids
		}
	}
}

// TestDeletedSession: everything under it goes, and nothing brings it back.
func TestDeletedSession(t *testing.T) {
	t.Parallel()
	s, user := start(t, cloud.Options{}), "user-"+uuid.NewString()
	id := s.as(user, "POST", "/agent/sessions", `{"title":"Away with it"}`).is(t, 201)["sessionId"].(string)
	p := s.connect(user, "")
	p.ask(id, "What time is it?")
	p.ask(id, "say 300 words")
	if got := s.as(user, "DELETE", "/agent/sessions/"+id, ""); got.status != 204 || got.body != "" {
		t.Fatalf("DELETE = %+v", got)
	}
	s.onlyTombstone("after the deletion", id)
	if got := s.as(user, "GET", "/agent/sessions/"+id, ""); got.status != 404 {
		t.Errorf("GET after the deletion = %+v", got)
	}
	if got := s.as(user, "DELETE", "/agent/sessions/"+id, ""); got.status != 204 {
		t.Errorf("DELETE again = %+v", got)
	}
	if ids := s.listed(user, 10); len(ids) != 0 {
		t.Errorf("the list still has %v", ids)
	}
	s.put(t, contract.RunAgentTurn, fmt.Sprintf(`{"sessionId":%q}`, id), 2)
	s.put(t, contract.CreateAgentSession, fmt.Sprintf(`{"sessionId":%q,"userId":%q}`, id, sub(user)), 1)
	p.say(id, "Are you there?")
	if h := p.turn(); h.code != "not_found" {
		t.Errorf("a message to a deleted session = %+v, want not_found", h)
	}
	s.quiet()
	s.onlyTombstone("after late triggers", id)
}

func (s stack) onlyTombstone(when, id string) {
	s.t.Helper()
	if diff := cmp.Diff([]string{"STATE"}, s.under(s.t, key.SessionPK(id))); diff != "" {
		s.t.Errorf("%s: rows under the session, of which only the tombstone may be left (-want +got):\n%s", when, diff)
	}
	if state, err := s.table.State(s.t.Context(), id); err != nil || state.Phase != "deleted" {
		s.t.Errorf("%s: state = %+v, %v", when, state, err)
	}
}

// TestOtherPeoplesSessions: 403 over HTTP, one error over the socket, and no word of what is in them.
func TestOtherPeoplesSessions(t *testing.T) {
	t.Parallel()
	s, owner, other := shared(t), "user-"+uuid.NewString(), "user-"+uuid.NewString()
	made := s.as(owner, "POST", "/agent/sessions", `{"title":"secret plans"}`).is(t, 201)["sessionId"].(string)
	adopted := uuid.NewString()
	p := s.connect(owner, "")
	p.ask(adopted, "my name is Ada")
	intruder := s.connect(other, "")
	for _, id := range []string{made, adopted} {
		before := s.under(t, key.SessionPK(id))
		for _, r := range []struct{ method, path, body string }{
			{"GET", "/agent/sessions/" + id, ""}, {"DELETE", "/agent/sessions/" + id, ""},
			{"GET", "/agent/sessions/" + id + "/events", ""}, {"POST", "/agent/sessions/" + id + "/stop", ""},
			{"POST", "/agent/sessions/" + id + "/messages", `{"message":"What is my name?","continuationToken":"x"}`}, {"POST", "/agent/connect", fmt.Sprintf(`{"sessionId":%q}`, id)},
		} {
			got := s.as(other, r.method, r.path, r.body)
			if got.status != 403 || got.body != `{"message":"not your session","code":"denied"}` {
				t.Errorf("%s %s = %+v", r.method, r.path, got)
			}
		}
		for _, action := range []string{"", `"action":"stop",`, `"action":"subscribe",`} {
			intruder.send(fmt.Sprintf(`{%s"request":"What is my name?","session_id":%q,"user_id":%q}`, action, id, sub(owner)))
			if h := intruder.turn(); h.code != "denied" || len(h.messages) != 1 {
				t.Errorf("message with %q to another's session = %+v", action, h)
			}
		}
		if diff := cmp.Diff(before, s.under(t, key.SessionPK(id))); diff != "" {
			t.Errorf("rows of the session (-before +after):\n%s", diff)
		}
	}
	contains(t, "the owner's answer", p.ask(adopted, "What is my name?").text, "Ada")
	if ids := s.listed(other, 10); len(ids) > 0 {
		t.Errorf("the other user lists %v", ids)
	}
}
