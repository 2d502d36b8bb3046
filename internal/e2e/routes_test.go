package e2e_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// trial is a request to a route by somebody whose token is good, but who owns nothing of what it names.
type trial struct {
	body   string
	status int
	code   string // of the refusal; empty: it is the caller's own that the route is about, and it answers
}

// trials has one for every route of the template. {sessionId}, {taskId} and {skill} in a body are the owner's.
var trials = map[string]trial{
	"POST /agent/connect":                                       {`{"sessionId":"{sessionId}"}`, 403, "denied"},
	"POST /agent/sessions":                                      {`{"sessionId":"{sessionId}","userId":"somebody"}`, 201, ""},
	"GET /agent/sessions":                                       {"", 200, ""},
	"GET /agent/sessions/{sessionId}":                           {"", 403, "denied"},
	"DELETE /agent/sessions/{sessionId}":                        {"", 403, "denied"},
	"POST /agent/sessions/{sessionId}/messages":                 {`{"message":"hi","continuationToken":"x"}`, 403, "denied"},
	"POST /agent/sessions/{sessionId}/stop":                     {`{"clear":true}`, 403, "denied"},
	"GET /agent/sessions/{sessionId}/events":                    {"", 403, "denied"},
	"GET /agent/sessions/{sessionId}/files":                     {"", 403, "denied"},
	"GET /agent/sessions/{sessionId}/files/{path+}":             {"", 403, "denied"},
	"POST /agent/sessions/{sessionId}/tools/{name}":             {`{"input":{}}`, 403, "denied"},
	"GET /agent/sessions/{sessionId}/approvals":                 {"", 403, "denied"},
	"POST /agent/sessions/{sessionId}/approvals/{actionId}":     {`{"decision":"approve"}`, 403, "denied"},
	"POST /agent/sessions/{sessionId}/reminders":                {`{"purpose":"p","delay":"1h","prompt":"x"}`, 403, "denied"},
	"GET /agent/sessions/{sessionId}/reminders":                 {"", 403, "denied"},
	"DELETE /agent/sessions/{sessionId}/reminders":              {"", 403, "denied"},
	"DELETE /agent/sessions/{sessionId}/reminders/{reminderId}": {"", 403, "denied"},
	"GET /agent/skills":                                         {"", 200, ""},
	"PUT /agent/skills/{name}":                                  {`{"files":[{"path":"SKILL.md","text":"---\nname: {skill}\ndescription: Use it never.\n---\nNot the owner's."}]}`, 200, ""},
	"DELETE /agent/skills/{name}":                               {"", 404, "not_found"},
	"POST /agent/tasks":                                         {`{"request":"say \"x\"","system":"nightly"}`, 403, "denied"},
	"GET /agent/tasks/{taskId}":                                 {"", 404, "not_found"},
	"POST /agent/tasks/{taskId}/cancel":                         {"", 404, "not_found"},
	"POST /agent/channels/{channel}/messages":                   {`{"id":"c","key":"k","text":"hi"}`, 404, "not_found"}, // this stack has no secret; TestWebhooks is about one that has
}

// TestWhoMay: no route answers without a token, or with one that is not for it, and none gives or changes what is somebody else's.
// A route that is new in the template has to say here who may.
func TestWhoMay(t *testing.T) {
	t.Parallel()
	s, owner, other := shared(t), "user-"+uuid.NewString(), "user-"+uuid.NewString()
	names := strings.NewReplacer("{sessionId}", s.inhabited(owner), "{taskId}", s.task(owner, `{"request":"say \"done\""}`), "{channel}", "hooks",
		"{skill}", "refund", "{name}", "refund", "{path+}", "in/day.txt", "{actionId}", "call-1", "{reminderId}", "rem_1")
	s.finished(owner, names.Replace("{taskId}"))
	id := names.Replace("{sessionId}")
	before, skills := s.under(t, key.SessionPK(id)), s.as(owner, "GET", "/agent/skills", "").body
	signIn := s.tokenWith(other, identity.TokenOptions{Use: "id"})
	for route, try := range trialsInOrder(t) {
		method, path, _ := strings.Cut(names.Replace(route), " ")
		body := names.Replace(try.body)
		if path != "/agent/channels/hooks/messages" {
			if got := s.as("", method, path, body); got != (answer{401, `{"message":"Unauthorized"}`}) {
				t.Errorf("%s without a token = %+v", route, got)
			}
			if got := s.with(signIn, method, path, body); got.is(t, 403)["code"] != "token_use" {
				t.Errorf("%s with an ID token = %+v", route, got)
			}
		}
		got := s.as(other, method, path, body)
		if code, _ := got.is(t, try.status)["code"].(string); code != try.code {
			t.Errorf("%s by somebody else = %+v, want the code %q", route, got, try.code)
		}
		if strings.Contains(got.body, id) || strings.Contains(got.body, "the owner's") {
			t.Errorf("%s tells somebody else %s", route, got.body)
		}
	}
	if got := s.get(signIn, s.streamOf(owner, id)); got.StatusCode != 401 {
		t.Errorf("the stream with an ID token = %s", got.Status)
	}
	if conn, _, err := s.handshake(signIn, ""); err == nil {
		_ = conn.CloseNow()
		t.Error("a socket opens with an ID token")
	}
	if diff := cmp.Diff(before, s.under(t, key.SessionPK(id))); diff != "" {
		t.Errorf("rows of the owner's session (-before +after):\n%s", diff)
	}
	if got := s.as(owner, "GET", "/agent/skills", "").body; got != skills {
		t.Errorf("the owner's skills = %s, want %s", got, skills)
	}
}

// inhabited makes a session of owner that has a message, an answer, a file and a reminder; the owner also sends a skill.
func (s stack) inhabited(owner string) string {
	s.t.Helper()
	id := uuid.NewString()
	s.as(owner, "POST", "/agent/sessions/"+id+"/messages", `{"message":"say \"the owner's\"","files":{"in/day.txt":"the owner's"}}`).is(s.t, 202)
	s.settles(owner, id)
	s.as(owner, "POST", "/agent/sessions/"+id+"/reminders", `{"purpose":"p","delay":"24h","prompt":"x"}`).is(s.t, 201)
	s.as(owner, "PUT", "/agent/skills/refund", `{"files":[{"path":"SKILL.md","text":"---\nname: refund\ndescription: It is the owner's.\n---\nx"}]}`).is(s.t, 200)
	return id
}

// trialsInOrder gives the trials by route, and fails where they are not the template's routes.
func trialsInOrder(t *testing.T) func(yield func(string, trial) bool) {
	t.Helper()
	template, err := sam.Load(filepath.Join(project, "template.yaml"), sam.Inputs{Defaults: map[string]string{
		"CognitoUserPoolId": "us-east-1_AbCdEfGhI", "CognitoClientId": "client",
	}})
	if err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, r := range template.HTTP.Routes {
		routes = append(routes, r.Method+" "+r.Path)
		if open := r.Path == "/agent/channels/{channel}/messages"; r.Auth == open {
			t.Errorf("%s %s: authorizer %t", r.Method, r.Path, r.Auth)
		}
	}
	slices.Sort(routes)
	if diff := cmp.Diff(routes, slices.Sorted(maps.Keys(trials))); diff != "" {
		t.Fatalf("routes (-template +trials):\n%s", diff)
	}
	return func(yield func(string, trial) bool) {
		for _, route := range routes {
			if !yield(route, trials[route]) {
				return
			}
		}
	}
}

// TestTaskInAnothersSession fails, and leaves the session as it was.
func TestTaskInAnothersSession(t *testing.T) {
	t.Parallel()
	s, owner, other := shared(t), "user-"+uuid.NewString(), "user-"+uuid.NewString()
	id := s.inhabited(owner)
	before := s.under(t, key.SessionPK(id))
	task := s.task(other, fmt.Sprintf(`{"request":"What is in this conversation?","sessionId":%q}`, id))
	if got := s.finished(other, task); got["status"] != "FAILED" || strings.Contains(fmt.Sprint(got), "the owner's") {
		t.Errorf("task = %v", got)
	}
	if diff := cmp.Diff(before, s.under(t, key.SessionPK(id))); diff != "" {
		t.Errorf("rows of the owner's session (-before +after):\n%s", diff)
	}
}
