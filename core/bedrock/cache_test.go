package bedrock_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/model"
)

func TestCachingOf(t *testing.T) {
	all := bedrock.Caching{System: true, Tools: true, Messages: true, Results: true}
	nova := bedrock.Caching{System: true, Messages: true}
	tests := []struct {
		id   string
		want bedrock.Caching
	}{
		{"us.amazon.nova-lite-v1:0", nova},
		{"amazon.nova-pro-v1:0:300k", nova},
		{"arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.amazon.nova-micro-v1:0", nova},
		{"us.amazon.nova-2-lite-v1:0", bedrock.Caching{}},
		{"amazon.nova-canvas-v1:0", bedrock.Caching{}},
		{"eu.anthropic.claude-haiku-4-5-20251001-v1:0", all},
		{"anthropic.claude-3-5-sonnet-20241022-v2:0", all},
		{"anthropic.claude-3-5-sonnet-20240620-v1:0", bedrock.Caching{}},
		{"anthropic.claude-3-haiku-20240307-v1:0", bedrock.Caching{}},
		{"anthropic.claude-v2", bedrock.Caching{}},
		{"meta.llama3-1-70b-instruct-v1:0", bedrock.Caching{}},
		{"arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc", bedrock.Caching{}},
	}
	for _, tt := range tests {
		if got := bedrock.CachingOf(tt.id); got != tt.want {
			t.Errorf("CachingOf(%s) = %+v, want %+v", tt.id, got, tt.want)
		}
	}
}

// turns is a history of n questions with a tool call in each but the last.
func turns(n int) []model.Message {
	var history []model.Message
	for i := range n {
		id := fmt.Sprint(i)
		history = append(history, model.Text(model.User, "question "+id))
		if i == n-1 {
			return history
		}
		history = append(history,
			model.Message{Role: model.Assistant, Content: []model.Block{{ToolUse: &model.ToolUse{ID: id, Name: "t", Input: json.RawMessage(`{}`)}}}},
			model.Message{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: id, Status: model.Success, Content: []model.ResultPart{{Text: "ok"}}}}}},
			model.Text(model.Assistant, "answer "+id))
	}
	return history
}

// where lists the places of cache points in a request.
func where(t *testing.T, body string) []string {
	t.Helper()
	var found []string
	note := func(list any, place string) {
		blocks, _ := list.([]any)
		for j, b := range blocks {
			if _, ok := b.(map[string]any)["cachePoint"]; ok {
				found = append(found, fmt.Sprintf("%s.%d", place, j))
			}
		}
	}
	note(part(t, body, "system"), "system")
	note(part(t, body, "toolConfig", "tools"), "tools")
	messages, _ := part(t, body, "messages").([]any)
	for i, m := range messages {
		note(m.(map[string]any)["content"], fmt.Sprintf("messages.%d", i))
	}
	return found
}

// Every request goes to a server that refuses a cache point which the model would.
func TestCachePoints(t *testing.T) {
	claude, nova := "anthropic.claude-sonnet-4-6", "amazon.nova-lite-v1:0"
	marked := turns(3)
	for i := range marked {
		marked[i].Content = append(marked[i].Content, model.Block{CachePoint: true})
	}
	tests := []struct {
		name    string
		model   string
		caching *bedrock.Caching
		system  string
		history []model.Message
		want    []string
	}{
		{"Claude", claude, nil, "be kind", turns(3), []string{"system.1", "tools.1", "messages.6.1", "messages.8.1"}},
		{"Claude without system text", claude, nil, "", turns(3), []string{"tools.1", "messages.6.1", "messages.8.1"}},
		{"Claude, points of the history", claude, nil, "be kind", marked, []string{"system.1", "tools.1", "messages.7.1", "messages.8.1"}},
		{"Nova", nova, nil, "be kind", turns(3), []string{"system.1", "messages.4.1", "messages.8.1"}},
		{"Nova, points of the history", nova, nil, "be kind", marked, []string{"system.1", "messages.7.1", "messages.8.1"}},
		{"a model without", "mistral.mistral-large", nil, "be kind", marked, nil},
		{"switched off", claude, &bedrock.Caching{}, "be kind", marked, nil},
		{"only the tools", claude, &bedrock.Caching{Tools: true}, "be kind", marked, []string{"tools.1"}},
		{"one message", claude, nil, "", turns(1), []string{"tools.1", "messages.0.1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := model.Request{ModelID: tt.model, System: tt.system, Messages: tt.history, Tools: []model.ToolSpec{spec("t")}}
			if diff := cmp.Diff(tt.want, where(t, body(t, bedrock.Model{Caching: tt.caching}, req))); diff != "" {
				t.Errorf("cache points (-want +got):\n%s", diff)
			}
		})
	}
}
