package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// calls has a tool of a session run without a model.
func (s stack) calls(user, id, name, input string) answer {
	s.t.Helper()
	return s.as(user, "POST", "/agent/sessions/"+id+"/tools/"+name, `{"input":`+input+`}`)
}

// TestToolCallsOverHTTP: a program has a session's tool run; what it may not is refused; the log has the call.
func TestToolCallsOverHTTP(t *testing.T) {
	t.Parallel()
	s, user := shared(t), "user-"+uuid.NewString()
	id := s.as(user, "POST", "/agent/sessions", `{"tools":["get_current_time","publish_note","remind_me"]}`).is(t, 201)["sessionId"].(string)
	s.connect(user, "").ask(id, `say "hello"`)
	s.settles(user, id)
	got := s.calls(user, id, "get_current_time", `{"timezone":"Europe/Berlin"}`).is(t, 200)
	if out, _ := got["output"].(map[string]any); got["status"] != "success" || out["timezone"] != "Europe/Berlin" || got["name"] != "get_current_time" {
		t.Errorf("the call = %v", got)
	}
	if wrong := s.calls(user, id, "get_current_time", `{"timezone":5}`).is(t, 200); wrong["status"] != "error" || !strings.Contains(fmt.Sprint(wrong["output"]), "timezone") {
		t.Errorf("a wrong input = %v", wrong)
	}
	for _, tt := range []struct {
		who, name, input string
		status           int
		code             string
	}{
		{"eve", "get_current_time", `{}`, 403, "denied"},
		{user, "notebook", `{}`, 404, "not_found"},
		{user, "publish_note", `{"text":"x"}`, 403, "approval_required"},
		{user, "get_current_time", `[]`, 400, "invalid"},
	} {
		refused := s.calls(tt.who, id, tt.name, tt.input)
		if refused.is(t, tt.status)["code"] != tt.code {
			t.Errorf("%s %s: %s", tt.who, tt.name, refused.body)
		}
	}
	reminder := s.calls(user, id, "remind_me", `{"delay":"2h","prompt":"Look."}`).is(t, 200)
	out, _ := reminder["output"].(map[string]any)
	if reminder["status"] != "success" || out["reminderId"] == "" {
		t.Errorf("remind_me = %v", reminder)
	}
	if gone := s.calls(user, id, "remind_me", `{"action":"cancel","purpose":"user_follow_up"}`).is(t, 200); fmt.Sprint(gone["output"]) != "map[cancelled:1]" {
		t.Errorf("cancel = %v", gone)
	}
	once := func() map[string]any {
		return s.as(user, "POST", "/agent/sessions/"+id+"/tools/get_current_time", `{"input":{},"deliveryId":"d-1"}`).is(t, 200)
	}
	if first, again := once(), once(); first["id"] != again["id"] || fmt.Sprint(first["output"]) != fmt.Sprint(again["output"]) {
		t.Errorf("sent again: %v, the first %v", again, first)
	}
	story := s.story(t, id)
	if asked, results := of[contract.ActionsRequested](t, story), of[contract.ActionResult](t, story); len(asked) != 5 || len(results) != 5 || results[0].ID != got["id"] {
		t.Errorf("the log has %d requests and %d results, want 5 of each", len(asked), len(results))
	}
}

// TestToolCallsAndTurns: a call is refused while a turn runs; a message that comes during a call is answered after it.
func TestToolCallsAndTurns(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(reached)
		<-release
		_, _ = io.WriteString(w, "slow news")
	}))
	t.Cleanup(server.Close)
	user := "ada"
	s := start(t, cloud.Options{Parameters: map[string]string{"HttpAllowedHosts": server.URL}})
	id := s.as(user, "POST", "/agent/sessions", `{"tools":["get_current_time","http_request"]}`).is(t, 201)["sessionId"].(string)
	p := s.connect(user, "")
	p.say(id, "say 200 words slow 20 ms")
	p.untilText(0)
	if got := s.calls(user, id, "get_current_time", `{}`).is(t, 409); got["code"] != "session_busy" {
		t.Errorf("in mid-answer: %v", got)
	}
	s.as(user, "POST", "/agent/sessions/"+id+"/stop", "").is(t, 202)
	p.turn()
	eventually(t, "the session to rest", func() bool { return s.as(user, "GET", "/agent/sessions/"+id, "").is(t, 200)["status"] == "waiting" })

	called := make(chan answer, 1)
	go func() { called <- s.calls(user, id, "http_request", fmt.Sprintf(`{"url":%q}`, server.URL+"/")) }()
	<-reached
	if got := s.calls(user, id, "get_current_time", `{}`).is(t, 409); got["code"] != "session_busy" {
		t.Errorf("during another call: %v", got)
	}
	p.say(id, `say "after it"`)
	eventually(t, "the message to be admitted", func() bool { return s.as(user, "GET", "/agent/sessions/"+id, "").is(t, 200)["pending"] == 1.0 })
	s.quiet()
	close(release)
	got := <-called
	if out := got.is(t, 200); out["status"] != "success" || !strings.Contains(fmt.Sprint(out["output"]), "slow news") {
		t.Errorf("the slow call = %v", out)
	}
	if h := p.turn(); h.text != "after it" {
		t.Errorf("the message was answered %+v", h)
	}
	s.rest(t)
}
