package bedrock_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/model"
)

func TestStructuredOf(t *testing.T) {
	for id, want := range map[string]bool{
		"us.amazon.nova-lite-v1:0":                                      false,
		"eu.anthropic.claude-haiku-4-5-20251001-v1:0":                   true,
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0":                  true,
		"global.anthropic.claude-opus-4-6-v1":                           true,
		"anthropic.claude-sonnet-5":                                     true,
		"us.anthropic.claude-sonnet-4-20250514-v1:0":                    false,
		"anthropic.claude-3-5-sonnet-20241022-v2:0":                     false,
		"arn:aws:bedrock:us-east-1:1:application-inference-profile/abc": false,
	} {
		if got := bedrock.StructuredOf(id); got != want {
			t.Errorf("StructuredOf(%s) = %t", id, got)
		}
	}
}

const (
	claude45 = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	review   = `{"type":"object","properties":{"score":{"type":"integer","minimum":1,"description":"1 to 5"},"notes":{"type":"array","items":{"type":"object",` +
		`"properties":{"text":{"type":["string","null"],"maxLength":9},"kind":{"enum":["a","b"],"default":"a"}},"required":["text"],"additionalProperties":{"not":{}}}}},"required":["score"]}`
	closedReview = `{"type":"object","properties":{"score":{"type":"integer","description":"1 to 5"},"notes":{"type":"array","items":{"type":"object",` +
		`"properties":{"text":{"type":["string","null"]},"kind":{"enum":["a","b"]}},"required":["text"],"additionalProperties":false}}},"required":["score"],"additionalProperties":false}`
)

// asking is a request for an answer that fits schema.
func asking(id, schema string, others ...model.ToolSpec) model.Request {
	req := hello()
	req.ModelID, req.AnswerTool = id, "answer"
	req.Tools = append([]model.ToolSpec{{Name: "answer", Description: "answers", Schema: json.RawMessage(schema)}}, others...)
	req.ToolChoice.Name = "answer"
	return req
}

// TestAnswerFormat: the text is held to a schema where the model can be and the schema is one that can be compiled; everywhere else
// the tool is offered and forced. The server refuses what the service would.
func TestAnswerFormat(t *testing.T) {
	tests := []struct {
		name, id, schema string
		m                bedrock.Model
		want             string // the schema sent, or "" for the tool
	}{
		{"closed schema", claude45, review, bedrock.Model{}, closedReview},
		{"without streaming", claude45, review, bedrock.Model{Whole: true}, closedReview},
		{"alternatives", claude45, `{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, bedrock.Model{},
			`{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}},"additionalProperties":false}`},
		{"Nova", "us.amazon.nova-pro-v1:0", review, bedrock.Model{}, ""},
		{"switched off", claude45, review, bedrock.Model{Structured: new(false)}, ""},
		{"a map", claude45, `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}}}`, bedrock.Model{}, ""},
		{"an object of anything", claude45, `{"type":"object"}`, bedrock.Model{}, ""},
		{"any value", claude45, `{"type":"object","properties":{"raw":true}}`, bedrock.Model{}, ""},
		{"a tree", claude45, `{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object"}}}`, bedrock.Model{}, ""},
		{"a list of anything", claude45, `{"type":"object","properties":{"l":{"type":"array"}}}`, bedrock.Model{}, ""},
		{"many optional properties", claude45, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"},` +
			`"e":{"type":"string"},"f":{"type":"string"},"g":{"type":"string"},"h":{"type":"string"},"i":{"type":"string"},"j":{"type":"string"},"k":{"type":"string"}}}`, bedrock.Model{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sent := body(t, tt.m, asking(tt.id, tt.schema))
			schema, _ := part(t, sent, "outputConfig", "textFormat", "structure", "jsonSchema", "schema").(string)
			forced := part(t, sent, "toolConfig", "toolChoice", "tool", "name")
			if tt.want == "" {
				if schema != "" || forced != "answer" {
					t.Errorf("schema %q, forced %v; want the tool alone", schema, forced)
				}
				return
			}
			if diff := cmp.Diff(part(t, tt.want), part(t, schema)); diff != "" || forced != nil || part(t, sent, "toolConfig") != nil {
				t.Errorf("forced %v, schema (-want +got):\n%s", forced, diff)
			}
		})
	}
}

// TestAnswerFormatBesideTools: the other tools stay, and so does reasoning, for nothing is forced.
func TestAnswerFormatBesideTools(t *testing.T) {
	m := bedrock.Model{Fields: map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}}}
	sent := body(t, m, asking(claude45, review, spec("search")))
	if got := part(t, sent, "toolConfig", "tools", 0, "toolSpec", "name"); got != "search" || part(t, sent, "toolConfig", "toolChoice") != nil {
		t.Errorf("tools begin with %v", got)
	}
	if got := part(t, sent, "additionalModelRequestFields", "thinking", "type"); got != "enabled" {
		t.Errorf("thinking = %v", got)
	}
}
