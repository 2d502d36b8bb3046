package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// task starts one and gives its id.
func (s stack) task(user, body string) string {
	s.t.Helper()
	made := s.as(user, "POST", "/agent/tasks", body).is(s.t, 202)
	if made["status"] != "PENDING" || len(made) != 2 {
		s.t.Errorf("created = %v, want an id and PENDING", made)
	}
	return made["taskId"].(string)
}

// finished polls a task until it is final.
func (s stack) finished(user, id string) map[string]any {
	s.t.Helper()
	var got map[string]any
	eventually(s.t, "task "+id+" to end", func() bool {
		got = s.as(user, "GET", "/agent/tasks/"+id, "").is(s.t, 200)
		return got["status"] == "COMPLETED" || got["status"] == "FAILED"
	})
	return got
}

// completions are the details of a task's completion events, without what we add to the contract.
func (s stack) completions(id string) []map[string]any {
	s.t.Helper()
	var out []map[string]any
	for _, e := range s.heard(contract.AgentTaskCompleted) {
		var detail map[string]any
		if err := json.Unmarshal(e.Detail, &detail); err != nil {
			s.t.Fatal(err)
		}
		if detail["taskId"] == id {
			delete(detail, "usage")
			out = append(out, detail)
		}
	}
	return out
}

func TestTaskWithWait(t *testing.T) {
	t.Parallel()
	s := shared(t)
	got := s.as("ada", "POST", "/agent/tasks", `{"request":"say \"done\"","wait":true}`).is(t, 200)
	if got["status"] != "COMPLETED" || got["output"] != "done" || got["usage"] == nil || len(got) != 4 {
		t.Errorf("answer = %v, want id, status, output and usage", got)
	}
	got = s.as("ada", "POST", "/agent/tasks", `{"request":"fail ValidationException","wait":true}`).is(t, 200)
	if got["status"] != "FAILED" || got["error"] == "" || got["usage"] == nil || len(got) != 4 {
		t.Errorf("answer = %v, want id, status, error and usage", got)
	}
}

func TestTaskWithoutWait(t *testing.T) {
	t.Parallel()
	s := shared(t)
	id := s.task("ada", `{"request":"call get_current_time"}`)
	got := s.finished("ada", id)
	if got["status"] != "COMPLETED" || got["error"] != nil {
		t.Errorf("task = %v", got)
	}
	contains(t, "output", fmt.Sprint(got["output"]), "get_current_time answered")
	eventually(t, "its completion", func() bool { return len(s.completions(id)) > 0 })
	want := []map[string]any{{
		"taskId": id, "status": "COMPLETED", "output": got["output"], "principal": map[string]any{"type": "user", "id": sub("ada")},
	}}
	if diff := cmp.Diff(want, s.completions(id)); diff != "" {
		t.Errorf("Agent Task Completed (-want +got):\n%s", diff)
	}
}

func TestTaskInASession(t *testing.T) {
	t.Parallel()
	s, own, others := shared(t), uuid.NewString(), uuid.NewString()
	p := s.connect("ada", "")
	p.ask(own, "my name is Ada")
	id := s.task("ada", fmt.Sprintf(`{"request":"what is my name?","sessionId":%q}`, own))
	contains(t, "output", fmt.Sprint(s.finished("ada", id)["output"]), "Ada")
	if h := p.turn(); h.code != "" {
		t.Errorf("who follows the session heard %+v", h)
	}
	s.connect("bob", "").ask(others, "my name is Bob")
	got := s.finished("ada", s.task("ada", fmt.Sprintf(`{"request":"what is my name?","sessionId":%q}`, others)))
	if got["status"] != "FAILED" || got["error"] != "not your session" || got["output"] != nil {
		t.Errorf("a task in somebody else's session = %v", got)
	}
}

// TestCancelledTask: it ends at once and stays ended, and its turn ends too.
func TestCancelledTask(t *testing.T) {
	t.Parallel()
	s := shared(t)
	id := s.task("ada", `{"request":"say 2000 words slow 20 ms"}`)
	session := contract.TaskSessionPrefix + id
	eventually(t, "its turn to say something", func() bool { return len(of[contract.MessageAppended](t, s.story(t, session))) > 0 })
	if got := s.as("bob", "POST", "/agent/tasks/"+id+"/cancel", ""); got.status != 404 {
		t.Errorf("cancelled by somebody else: %+v", got)
	}
	for range 2 {
		got := s.as("ada", "POST", "/agent/tasks/"+id+"/cancel", "").is(t, 202)
		if got["status"] != "FAILED" || got["error"] != "cancelled" {
			t.Errorf("cancel = %v", got)
		}
	}
	eventually(t, "its turn to end", func() bool {
		failed := of[contract.TurnFailed](t, s.story(t, session))
		return len(failed) == 1 && failed[0].Status == "cancelled"
	})
	if got := s.finished("ada", id); got["status"] != "FAILED" || got["error"] != "cancelled" {
		t.Errorf("task = %v", got)
	}
	done := s.as("ada", "POST", "/agent/tasks", `{"request":"say \"done\"","wait":true}`).is(t, 200)["taskId"].(string)
	if got := s.as("ada", "POST", "/agent/tasks/"+done+"/cancel", ""); got.status != 409 {
		t.Errorf("cancel of a completed task = %+v, want 409", got)
	}
}

// TestSystemTasks: only who holds a grant starts a task as a system; who started it may read it.
func TestSystemTasks(t *testing.T) {
	t.Parallel()
	s := shared(t)
	for _, r := range []struct{ user, system string }{
		{"ada", "nightly"}, {"grantee", "weekly"}, {"grantee", "*"}, {"nobody", "x"}, {"nonsense", "nightly"},
	} {
		got := s.as(r.user, "POST", "/agent/tasks", fmt.Sprintf(`{"request":"say \"x\"","system":%q}`, r.system))
		if got.is(t, 403)["code"] != "denied" {
			t.Errorf("%s as %s = %+v", r.user, r.system, got)
		}
	}
	id := s.task("grantee", `{"request":"say \"done\"","system":"nightly"}`)
	if got := s.finished("grantee", id); got["output"] != "done" {
		t.Errorf("task = %v", got)
	}
	row, err := s.table.Task(t.Context(), id)
	if err != nil || row.Principal != task.System("nightly") || row.CreatedBy != sub("grantee") {
		t.Errorf("row = %+v, %v", row, err)
	}
}

// TestOtherPeoplesTasks are as unknown as tasks that never were.
func TestOtherPeoplesTasks(t *testing.T) {
	t.Parallel()
	s := shared(t)
	id := s.as("ada", "POST", "/agent/tasks", `{"request":"say \"mine\"","wait":true}`).is(t, 200)["taskId"].(string)
	for _, other := range []string{id, uuid.NewString()} {
		for _, r := range []struct{ method, path string }{{"GET", "/agent/tasks/" + other}, {"POST", "/agent/tasks/" + other + "/cancel"}} {
			if got := s.as("bob", r.method, r.path, ""); got.status != 404 || got.body != `{"message":"no such task","code":"not_found"}` {
				t.Errorf("%s %s = %+v", r.method, r.path, got)
			}
		}
	}
}
