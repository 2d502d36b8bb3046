package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// publishing begins a session whose agent may publish notes, and has it ask for n at once. It gives the calls that wait.
func (s stack) publishing(user string, n int) (id string, calls []string) {
	s.t.Helper()
	id = s.as(user, "POST", "/agent/sessions", `{"tools":["publish_note"]}`).is(s.t, 201)["sessionId"].(string)
	for i := range n {
		s.as(user, "POST", "/agent/sessions/"+id+"/messages", s.message(user, id, fmt.Sprintf(`call publish_note with {"text":"note %d"}`, i))).is(s.t, 202)
		calls = append(calls, s.asks(user, id))
	}
	return id, calls
}

// message is the body of a message over HTTP.
func (s stack) message(user, id, text string) string {
	s.t.Helper()
	token, _ := s.as(user, "GET", "/agent/sessions/"+id, "").is(s.t, 200)["continuationToken"].(string)
	body, err := json.Marshal(contract.SendMessage{Message: text, ContinuationToken: token})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(body)
}

// approvals lists those of a session.
func (s stack) approvals(user, id string) []contract.Approval {
	s.t.Helper()
	var all contract.Approvals
	got := s.as(user, "GET", "/agent/sessions/"+id+"/approvals", "")
	got.is(s.t, 200)
	if err := json.Unmarshal([]byte(got.body), &all); err != nil {
		s.t.Fatal(err)
	}
	return all.Approvals
}

// asks waits until the session waits for a person, and gives the call.
func (s stack) asks(user, id string) (call string) {
	s.t.Helper()
	eventually(s.t, "a call to wait", func() bool {
		if status := s.as(user, "GET", "/agent/sessions/"+id, "").is(s.t, 200)["status"]; status != "waiting_approval" {
			return false
		}
		for _, a := range s.approvals(user, id) {
			if a.Status == "pending" {
				call = a.ActionID
			}
		}
		return call != ""
	})
	return call
}

// settles waits until the session waits for messages again, and gives the answer of its last turn.
func (s stack) settles(user, id string) string {
	s.t.Helper()
	eventually(s.t, "the turn to end", func() bool {
		return s.as(user, "GET", "/agent/sessions/"+id, "").is(s.t, 200)["status"] == "waiting"
	})
	done := of[contract.TurnCompleted](s.t, s.story(s.t, id))
	if len(done) == 0 {
		s.t.Fatalf("session %s has no answer", id)
	}
	return done[len(done)-1].Result
}

// published counts the notes of a call of a session that came out.
func (s stack) published(id, call string) int {
	return len(s.log.lines("note published", id, `"call":"`+call+`"`))
}

// TestApprovals: a call waits for its owner, who decides over HTTP, a socket, or an app on the bus; once.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s, user := shared(t), "user-"+uuid.NewString()
	id, calls := s.publishing(user, 1)
	call := calls[0]
	at := "/agent/sessions/" + id + "/approvals/" + call
	listed := s.approvals(user, id)
	if len(listed) != 1 || listed[0].Name != "publish_note" || string(listed[0].Input) != `{"text":"note 0"}` || listed[0].DecidedAt != "" {
		t.Errorf("listed = %+v", listed)
	}
	for _, tt := range []struct {
		who, method, at, body string
		status                int
		code                  string
	}{
		{"", "POST", at, `{"decision":"approve"}`, 401, ""},
		{"eve", "POST", at, `{"decision":"approve"}`, 403, "denied"},
		{"eve", "GET", "/agent/sessions/" + id + "/approvals", ``, 403, "denied"},
		{user, "POST", at, `{"decision":"maybe"}`, 400, "invalid"},
		{user, "POST", at, `{"decision":"deny","reason":"` + strings.Repeat("x", session.MaxReason+1) + `"}`, 400, "invalid"},
		{user, "POST", "/agent/sessions/" + id + "/approvals/other", `{"decision":"approve"}`, 404, "not_found"},
		{user, "POST", "/agent/sessions/" + uuid.NewString() + "/approvals/" + call, `{"decision":"approve"}`, 404, "not_found"},
	} {
		got := s.as(tt.who, tt.method, tt.at, tt.body)
		if body := got.is(t, tt.status); tt.code != "" && body["code"] != tt.code {
			t.Errorf("%s %s: %s", tt.who, tt.body, got.body)
		}
	}
	if got := s.as(user, "POST", at, `{"decision":"approve","reason":"Fine."}`).is(t, 200); got["status"] != "approved" || got["by"] != sub(user) {
		t.Errorf("decided = %v", got)
	}
	if got := s.settles(user, id); got != `publish_note answered: published: note 0` {
		t.Errorf("the answer is %q", got)
	}
	s.as(user, "POST", at, `{"decision":"approve"}`).is(t, 200) // whose answer was lost asks again
	if got := s.as(user, "POST", at, `{"decision":"deny"}`).is(t, 409); got["code"] != "already_decided" {
		t.Errorf("decided otherwise = %v", got)
	}
	if n := s.published(id, call); n != 1 {
		t.Errorf("it was published %d times", n)
	}
	story := s.story(t, id)
	want := []contract.ApprovalResolved{{ActionID: call, Name: "publish_note", Decision: "approved", By: sub(user), Reason: "Fine."}}
	if diff := cmp.Diff(want, of[contract.ApprovalResolved](t, story)); diff != "" || len(of[contract.ApprovalRequested](t, story)) != 1 {
		t.Errorf("the log (-want +got):\n%s", diff)
	}

	t.Run("over the bus", func(t *testing.T) {
		s := stack{s.world, t}
		id, calls := s.publishing(user, 1)
		s.put(t, contract.ResolveApprovalType, fmt.Sprintf(`{"sessionId":%q,"actionId":%q,"decision":"deny","by":%q,"reason":"Not yet."}`, id, calls[0], sub(user)), 2)
		contains(t, "the answer", s.settles(user, id), "publish_note failed: The call was denied: Not yet. It was not run.")
		s.put(t, contract.ResolveApprovalType, fmt.Sprintf(`{"sessionId":%q,"actionId":%q,"decision":"approve","by":%q}`, id, calls[0], sub(user)), 1)
		eventually(t, "the late one to be let go", func() bool { return len(s.log.lines("nothing to decide", calls[0])) > 0 })
		if s.published(id, calls[0]) != 0 {
			t.Error("a denied call ran")
		}
	})
}

// TestApprovalsOfTasks: in a task's session its principal decides, or who created the task.
func TestApprovalsOfTasks(t *testing.T) {
	t.Parallel()
	s, boss := shared(t), "user-"+uuid.NewString()
	id := uuid.NewString()
	s.put(t, contract.RunAgentTask, fmt.Sprintf(`{"taskId":%q,"principal":{"type":"system","id":"nightly"},"createdBy":%q,"tools":["publish_note"],
		"request":"call publish_note with {\"text\":\"the news\"}"}`, id, sub(boss)), 1)
	at, call := "/agent/sessions/"+contract.TaskSessionPrefix+id+"/approvals", ""
	eventually(t, "the call to wait", func() bool {
		var all contract.Approvals
		got := s.as(boss, "GET", at, "")
		if got.status == 200 && json.Unmarshal([]byte(got.body), &all) == nil && len(all.Approvals) == 1 {
			call = all.Approvals[0].ActionID
		}
		return call != ""
	})
	s.as("eve", "GET", at, "").is(t, 403)
	s.as("eve", "POST", at+"/"+call, `{"decision":"approve"}`).is(t, 403)
	if got := s.finishedYet(boss, id); got {
		t.Error("the task ended without a decision")
	}
	s.as(boss, "POST", at+"/"+call, `{"decision":"approve"}`).is(t, 200)
	if got := s.finished(boss, id); got["status"] != "COMPLETED" || got["output"] != "publish_note answered: published: the news" {
		t.Errorf("the task came to %v", got)
	}
}

// finishedYet reports whether a task is over.
func (s stack) finishedYet(user, id string) bool {
	s.t.Helper()
	status := s.as(user, "GET", "/agent/tasks/"+id, "").is(s.t, 200)["status"]
	return status == "COMPLETED" || status == "FAILED"
}

// TestApprovalsOverASocket: who asked to be told is told, decides over the socket, and hears of a later decision that it is too late.
func TestApprovalsOverASocket(t *testing.T) {
	t.Parallel()
	s, user := shared(t), "user-"+uuid.NewString()
	id := s.as(user, "POST", "/agent/sessions", `{"tools":["publish_note"]}`).is(t, 201)["sessionId"].(string)
	p, tab := s.connect(user, "?features=reset,approvals"), s.connect(user, "?features=approvals")
	tab.send(fmt.Sprintf(`{"action":"subscribe","session_id":%q}`, id))
	p.say(id, `call publish_note with {"text":"hello"}`)
	call := p.hears("pending")
	if tab.hears("pending") != call {
		t.Error("the other tab was told of another call")
	}
	p.send(fmt.Sprintf(`{"action":"decide","session_id":%q,"action_id":%q,"decision":"approve"}`, id, call))
	p.hears("approved")
	if h := p.turn(); h.text != "publish_note answered: published: hello" || h.code != "" {
		t.Errorf("after that the client heard %+v", h)
	}
	tab.hears("approved")
	tab.turn()
	tab.send(fmt.Sprintf(`{"action":"decide","session_id":%q,"action_id":%q,"decision":"deny"}`, id, call))
	if m, raw := tab.next(); m.Error != "already_decided" || m.ActionID != call || m.SessionID != id {
		t.Errorf("the other tab is told %s", raw)
	}
}

// hears reads until a call is told of with that status, and gives it.
func (p *talker) hears(status string) string {
	p.t.Helper()
	for {
		m, _ := p.next()
		if m.Event != nil && m.Event.Approval != nil && m.Event.Approval.Status == status {
			return m.Event.Approval.ActionID
		}
	}
}

// TestApprovalsFromTheCommandLine: list, approve, deny; chat says what waits and what to type.
func TestApprovalsFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s, user := shared(t), uuid.NewString()
	sh := s.shell()
	id := s.as(user, "POST", "/agent/sessions", `{"tools":["publish_note"]}`).is(t, 201)["sessionId"].(string)
	chat := sh.command("chat", `call publish_note with {"text":"hello"}`, "--session", id, "--user", user)
	out, notes := &record{}, &record{}
	chat.Stdout, chat.Stderr = out, notes
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	call := s.asks(user, id)
	eventually(t, "chat to say so", func() bool {
		return strings.Contains(notes.String(), fmt.Sprintf(`[publish_note {"text":"hello"} waits for a person: %s approvals approve %s %s]`, program, id, call))
	})
	contains(t, "the list", sh.fine("", "approvals", "list", id, "--user", user).out, "CALL", call, "pending", `{"text":"hello"}`)
	if got := sh.fine("", "approvals", "approve", id, call, "--user", user); got.out != "call "+call+": approved\n" {
		t.Errorf("approve = %+v", got)
	}
	if err := chat.Wait(); err != nil || out.String() != "publish_note answered: published: hello\n" {
		t.Errorf("chat ended with %v: %q", err, out.String())
	}
	contains(t, "what chat noted", notes.String(), "[publish_note: approved]")
	if got := sh.run("", "approvals", "deny", id, call, "--user", user, "--json"); got.status != 1 || !strings.Contains(got.err, `"code":"already_decided"`) {
		t.Errorf("deny = %+v", got)
	}
	if got := sh.object("approvals", "list", id, "--pending", "--user", user); len(got["approvals"].([]any)) != 0 {
		t.Errorf("what waits = %v", got)
	}
}

// TestAParkedTurnIsNobodysWork: while a person thinks, no function works for the turn, whoever looks and however often the sweep runs;
// and the stack may be another one when the person has decided.
func TestAParkedTurnIsNobodysWork(t *testing.T) {
	t.Parallel()
	user := "ada"
	s := start(t, cloud.Options{Parameters: map[string]string{"ApprovalHours": "48"}})
	id, _ := s.publishing(user, 1)
	s.quiet()
	worked := func() (uses int) {
		for _, f := range s.IAMReport().Functions {
			if f.Function == "run-turn" {
				for _, g := range f.Used {
					uses += g.Uses
				}
			}
		}
		return uses
	}
	before, triggers := worked(), len(s.heard(contract.RunAgentTurn))
	page := s.connect(user, "?features=approvals")
	for range 20 {
		s.sweep(t)
		page.send(fmt.Sprintf(`{"action":"subscribe","session_id":%q,"start_index":0}`, id))
		page.hears("pending")
		s.approvals(user, id)
	}
	s.quiet()
	if after, late := worked(), len(s.heard(contract.RunAgentTurn)); before == 0 || after != before || late != triggers {
		t.Errorf("while it waited, run-turn made %d calls and was triggered %d times; before, it made %d", after-before, late-triggers, before)
	}
	until := s.approvals(user, id)[0]
	asked, err1 := until.RequestedAt.Time()
	ends, err2 := until.ExpiresAt.Time()
	if err1 != nil || err2 != nil || ends.Sub(asked).Round(time.Minute) != 48*time.Hour {
		t.Errorf("it waits from %s to %s, want 48 h", until.RequestedAt, until.ExpiresAt)
	}
}

// TestAParkedTurnSurvivesARedeploy: the stack dies while a person thinks, and comes back as other binaries. The decision is taken, and
// the call runs, once, with the arguments it was asked about.
func TestAParkedTurnSurvivesARedeploy(t *testing.T) {
	t.Parallel()
	data, user := t.TempDir(), "ada"
	first := dev(t, data, "127.0.0.1:0")
	id, calls := first.publishing(user, 1)
	first.kill()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	// A flag that is written into binaries makes others of the same sources; elsewhere, for other hosts still use the ones of before.
	elsewhere := t.TempDir()
	second := dev(t, data, strings.TrimPrefix(first.info.HTTP, "http://"),
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -asmflags=-DREDEPLOYED", "XDG_CACHE_HOME="+elsewhere, "GOCACHE="+strings.TrimSpace(string(cache)))
	if got := second.as(user, "GET", "/agent/sessions/"+id, "").is(t, 200); got["status"] != "waiting_approval" {
		t.Errorf("after the redeploy the session is %v", got)
	}
	second.as(user, "POST", "/agent/sessions/"+id+"/approvals/"+calls[0], `{"decision":"approve"}`).is(t, 200)
	if got := second.settles(user, id); got != "publish_note answered: published: note 0" {
		t.Errorf("the answer is %q", got)
	}
	if a, b := first.published(id, calls[0]), second.published(id, calls[0]); a != 0 || b != 1 {
		t.Errorf("it was published %d times before and %d times after", a, b)
	}
	second.rest(t)
	before, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range binaries(t, elsewhere) { // named by what is in them
		if slices.Contains(binaries(t, before), now) {
			t.Errorf("%s was there before the redeploy", now)
		}
	}
}

// binaries are the names of the functions that a local cloud has built into a cache.
func binaries(t *testing.T, cache string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(cache, "steadfast", "*", "run-turn-*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no binaries in %s, %v", cache, err)
	}
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}
