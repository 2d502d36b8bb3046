package bedrock

import (
	"regexp"

	"github.com/steadfast-agents/steadfast/core/model"
)

// DefaultWindow is what a model that is not listed is taken to have room for, in tokens.
const DefaultWindow = 128_000

// windows are the context windows of model families, in tokens. The first that matches a model's id counts.
var windows = []struct {
	id     *regexp.Regexp
	tokens int
}{
	{regexp.MustCompile(`anthropic\.claude-(?:instant|v2$|v2:0)`), 100_000},
	{regexp.MustCompile(`anthropic\.claude`), 200_000},
	{regexp.MustCompile(`amazon\.nova-premier`), 1_000_000},
	{regexp.MustCompile(`amazon\.nova-2`), 1_000_000},
	{regexp.MustCompile(`amazon\.nova-(?:lite|pro)`), 300_000},
	{regexp.MustCompile(`amazon\.titan-text-premier`), 32_000},
	{regexp.MustCompile(`amazon\.titan-text-lite`), 4_000},
	{regexp.MustCompile(`amazon\.titan-text`), 8_000},
	{regexp.MustCompile(`meta\.llama3-(?:8b|70b)`), 8_000},
	{regexp.MustCompile(`meta\.llama4`), 1_000_000},
	{regexp.MustCompile(`mistral\.(?:mistral-7b|mixtral|mistral-large-2402|mistral-small)`), 32_000},
	{regexp.MustCompile(`ai21\.jamba`), 256_000},
}

// WindowOf gives how many tokens a model takes, its answer included, by its id; DefaultWindow for one that is not listed and for an
// ARN that does not name the model. It is a careful number: a model that offers more on request still gets this.
func WindowOf(modelID string) int {
	for _, w := range windows {
		if w.id.MatchString(modelID) {
			return w.tokens
		}
	}
	return DefaultWindow
}

// Window is WindowOf the model that a request with this ModelID would ask.
func (m Model) Window(modelID string) int { return WindowOf(m.id(model.Request{ModelID: modelID})) }
