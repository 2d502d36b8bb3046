package bedrock_test

import (
	"testing"

	"github.com/steadfast-agents/steadfast/core/bedrock"
)

func TestWindowOf(t *testing.T) {
	for id, want := range map[string]int{
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": 200_000, "anthropic.claude-v2": 100_000, "anthropic.claude-v2:1": 200_000,
		"us.amazon.nova-lite-v1:0": 300_000, "amazon.nova-micro-v1:0": 128_000, "us.amazon.nova-premier-v1:0": 1_000_000,
		"meta.llama3-8b-instruct-v1:0": 8_000, "us.meta.llama3-3-70b-instruct-v1:0": 128_000, "mistral.mistral-large-2407-v1:0": 128_000,
		"arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0": 300_000,
		"arn:aws:bedrock:us-east-1:1:application-inference-profile/a1b2c3":      bedrock.DefaultWindow, "": bedrock.DefaultWindow,
	} {
		if got := bedrock.WindowOf(id); got != want {
			t.Errorf("WindowOf(%q) = %d, want %d", id, got, want)
		}
	}
}

func TestWindowIsThatOfTheModelThatIsAsked(t *testing.T) {
	t.Setenv("BEDROCK_MODEL_ID", "")
	m := bedrock.Model{ID: "us.anthropic.claude-sonnet-4-5-20250929-v1:0"}
	if got := m.Window(""); got != 200_000 {
		t.Errorf("Window of no model of its own = %d, want that of Model.ID", got)
	}
	if got := m.Window("meta.llama3-8b-instruct-v1:0"); got != 8_000 {
		t.Errorf("Window = %d, want that of the request's model", got)
	}
	if got := (bedrock.Model{}).Window(""); got != 300_000 {
		t.Errorf("Window = %d, want that of the default model", got)
	}
}
