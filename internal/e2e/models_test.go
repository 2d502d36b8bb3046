package e2e_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock/openai/recorder"
)

// TestModelOfAnOpenAIServer: a conversation with tools, of which the model's server is told all, in the words of its API.
func TestModelOfAnOpenAIServer(t *testing.T) {
	t.Parallel()
	busy := recorder.Reply{Status: 429, Body: `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`}
	server := recorder.Start(busy, recorder.Call("call_1", "get_current_time", `{"timezone":"UTC"}`), recorder.Text("It is ", "noon."), recorder.Text("You asked for the time."))
	t.Cleanup(server.Close)
	s, id := start(t, cloud.Options{ModelSpec: "openai:" + server.URL + "#m1"}), uuid.NewString()
	p := s.connect("ada", "")
	first := p.ask(id, "What time is it?")
	if first.text != "It is noon." || !cmp.Equal(first.tools, []string{"get_current_time"}) {
		t.Errorf("the first answer is %+v", first)
	}
	if second := p.ask(id, "What did I ask?"); second.text != "You asked for the time." {
		t.Errorf("the second answer is %+v", second)
	}
	asked := server.Requests()
	if len(asked) != 4 {
		t.Fatalf("the server was asked %d times, want 4: a busy one once more", len(asked))
	}
	var roles []string
	for _, m := range asked[3].Body["messages"].([]any) {
		roles = append(roles, m.(map[string]any)["role"].(string))
	}
	if diff := cmp.Diff([]string{"system", "user", "assistant", "tool", "assistant", "user"}, roles); diff != "" {
		t.Errorf("roles of the last request (-want +got):\n%s", diff)
	}
	if asked[3].Body["tools"] == nil || asked[3].Body["max_tokens"] == nil {
		t.Errorf("the last request is %v", asked[3].Body)
	}
}
