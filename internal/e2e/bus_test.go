package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// TestDuplicateTaskEvents: an outside program puts the same task on the bus many times. It runs once.
func TestDuplicateTaskEvents(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), "job/"+uuid.NewString()
	detail := fmt.Sprintf(`{"taskId":%q,"principal":{"type":"system","id":"blog"},"request":"call get_current_time","systemPrompt":"You are terse.","unknown":true}`, id)
	s.put(t, contract.RunAgentTask, detail, 10)
	s.put(t, contract.RunAgentTask, detail, 5)
	eventually(t, "its completion", func() bool { return len(s.completions(id)) > 0 })
	s.put(t, contract.RunAgentTask, detail, 5)
	s.quiet()
	s.sweep(t)
	told := s.completions(id)
	output, _ := told[0]["output"].(string)
	want := []map[string]any{{"taskId": id, "status": "COMPLETED", "output": output, "principal": map[string]any{"type": "system", "id": "blog"}}}
	if diff := cmp.Diff(want, told); diff != "" || output == "" {
		t.Errorf("Agent Task Completed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"STATUS"}, s.under(t, key.TaskPK(id))); diff != "" {
		t.Errorf("rows of the task (-want +got):\n%s", diff)
	}
	story := s.story(t, contract.TaskSessionPrefix+id)
	turns, results := of[contract.TurnStarted](t, story), of[contract.ActionResult](t, story)
	if len(turns) != 1 || len(results) != 1 {
		t.Errorf("%d turns and %d tool results, want one of each", len(turns), len(results))
	}
	if last := story[len(story)-1].Type; last != "session.completed" {
		t.Errorf("the task's session ends with %s", last)
	}
}

// TestSessionFromAnEvent: a first-party app makes a session for a user, twice; the user's chat has the first's settings.
func TestSessionFromAnEvent(t *testing.T) {
	t.Parallel()
	s, id := shared(t), "post-"+uuid.NewString()
	make := func(prompt string) {
		s.put(t, contract.CreateAgentSession, fmt.Sprintf(`{"sessionId":%q,"userId":%q,"systemPrompt":%q,"tools":[]}`, id, sub("ada"), prompt), 1)
	}
	make("Speak of posts only.")
	eventually(t, "the session to be there", func() bool { return s.configured(id) })
	make("Speak of anything.")
	eventually(t, "the second event to be seen", func() bool { return len(s.log.lines("the session exists already", id)) == 1 })
	stranger := s.connect("bob", "")
	stranger.say(id, "hello")
	if got := stranger.turn(); got.code != "denied" {
		t.Errorf("somebody else heard %+v", got)
	}
	p := s.connect("ada", "")
	contains(t, "the answer", p.ask(id, "What are your instructions?").text, "Speak of posts only.")
	contains(t, "the answer about tools", p.ask(id, "call get_current_time").text, "I have no tool named get_current_time")
	if ids := s.listed("ada", 100); !slices.Contains(ids, id) {
		t.Errorf("its owner lists %v, without it", ids)
	}
}

// configured reports whether a session has settings.
func (s stack) configured(id string) bool {
	_, err := s.table.SessionConfig(s.t.Context(), id)
	return err == nil
}

// TestSettingsThatComeLate: the user was faster than the app's event. The settings count from the next turn.
func TestSettingsThatComeLate(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	p := s.connect("ada", "")
	p.ask(id, "my name is Ada")
	s.put(t, contract.CreateAgentSession, fmt.Sprintf(`{"sessionId":%q,"userId":%q,"systemPrompt":"Speak of posts only."}`, id, sub("ada")), 1)
	eventually(t, "the settings to be there", func() bool { return s.configured(id) })
	contains(t, "the answer", p.ask(id, "What are your instructions?").text, "Speak of posts only.")
	contains(t, "the next answer", p.ask(id, "What is my name?").text, "Ada")
}

// TestEventsThatAreWrong are told of in the log and store nothing.
func TestEventsThatAreWrong(t *testing.T) {
	t.Parallel()
	s := shared(t)
	tests := []struct{ name, detailType, detail, says string }{
		{"a task without an id", contract.RunAgentTask, `{"principal":{"type":"user","id":"u"},"request":"x"}`, "taskId: "},
		{"a task whose request is a number", contract.RunAgentTask, `{"taskId":"t-wrong","principal":{"type":"user","id":"u"},"request":7}`, "request: must be a string, is a number"},
		{"a session without a user", contract.CreateAgentSession, `{"sessionId":"s-wrong"}`, "userId: "},
		{"a session that a task would have", contract.CreateAgentSession, `{"sessionId":"task-wrong","userId":"u"}`, "sessionId: "},
	}
	for _, tt := range tests {
		s.put(t, tt.detailType, tt.detail, 1)
		eventually(t, "a log line about "+tt.name, func() bool { return len(s.log.lines("event failed", tt.detailType, tt.says)) > 0 })
	}
	for _, pk := range []string{"TASK#", "TASK#t-wrong", "SESSION#s-wrong", "SESSION#task-wrong"} {
		if rows := s.under(t, pk); len(rows) > 0 {
			t.Errorf("a wrong event stored %s %v", pk, rows)
		}
	}
}
