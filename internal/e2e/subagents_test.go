package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// TestSubagents: an agent that is a tool works in a conversation of its own, in the same workspace, and what it uses is the turn's.
func TestSubagents(t *testing.T) {
	t.Parallel()
	s, user := shared(t), "user-"+uuid.NewString()
	id := s.as(user, "POST", "/agent/sessions", `{"tools":["second_opinion"]}`).is(t, 201)["sessionId"].(string)
	s.post(user, id, contract.SendMessage{
		Message: `call second_opinion with {"request":"call read_file with {\"path\":\"plan.md\"}"}`, Files: map[string]string{"plan.md": "first this, then that"},
	}).is(t, 202)
	s.waits(user, id)
	story := s.story(t, id)
	called, done := of[contract.SubagentCalled](t, story), of[contract.SubagentCompleted](t, story)
	if len(called) != 1 || called[0].Name != "second_opinion" || called[0].Depth != 1 || len(done) != 1 || done[0].Status != "success" || done[0].ID != called[0].ID || done[0].Steps != 2 {
		t.Fatalf("called %+v, completed %+v", called, done)
	}
	turn := of[contract.TurnCompleted](t, story)[0]
	if !strings.Contains(turn.Result, "first this, then that") {
		t.Errorf("the answer is %q", turn.Result)
	}
	steps := 0
	for _, step := range of[contract.StepCompleted](t, story) {
		steps += step.Usage.InputTokens
	}
	if turn.Usage.InputTokens != steps+done[0].Usage.InputTokens {
		t.Errorf("the turn used %d, its steps %d and the subagent %d", turn.Usage.InputTokens, steps, done[0].Usage.InputTokens)
	}
}
