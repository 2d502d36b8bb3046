package bedrock_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// TestKnownSettings: what a model is known to refuse is never sent.
func TestKnownSettings(t *testing.T) {
	tests := []struct {
		id                  string
		temperature, forced bool
	}{
		{"us.amazon.nova-lite-v1:0", true, true},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", true, true},
		{"global.anthropic.claude-opus-4-6-v1", true, true},
		{"us.anthropic.claude-opus-4-7", false, true},
		{"us.anthropic.claude-opus-4-8", false, true},
		{"us.anthropic.claude-opus-5", false, true},
		{"anthropic.claude-sonnet-5", false, true},
		{"global.anthropic.claude-opus-5-5", false, false},
		{"anthropic.claude-fable-5-1", false, false},
		{"arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", true, true},
	}
	for _, tt := range tests {
		req := hello()
		req.ModelID, req.Temperature = tt.id, new(0.5)
		req.Tools, req.ToolChoice = []model.ToolSpec{spec("a")}, model.ToolChoice{Name: "a"}
		sent := body(t, bedrock.Model{Temperature: new(0.7)}, req)
		if got := part(t, sent, "inferenceConfig", "temperature") != nil; got != tt.temperature {
			t.Errorf("%s: temperature sent %t", tt.id, got)
		}
		if got := part(t, sent, "toolConfig", "toolChoice") != nil; got != tt.forced {
			t.Errorf("%s: forced %t", tt.id, got)
		}
	}
}

// TestRefusedSettings: a setting that the model says it does not have is left out, and the request asked again.
func TestRefusedSettings(t *testing.T) {
	const (
		temperature = "The model returned the following errors: `temperature` is deprecated for this model."
		force       = `The model returned the following errors: tool_choice: type "tool" and "any" are not supported for this model.`
		format      = "This model doesn't support the outputConfig.textFormat field. Remove outputConfig.textFormat and try again."
		cache       = "You invoked an unsupported model or your request did not allow prompt caching."
	)
	refusal := func(kind, text string) wire.Reply { return wire.Reply{&wire.Error{Type: kind, Message: text}} }
	invalid := func(text string) wire.Reply { return refusal("ValidationException", text) }
	tests := []struct {
		name    string
		refused []wire.Reply
		gone    [][]any // paths that the last request has no more
		kept    [][]any
		asked   int
		fails   bool
	}{
		{"temperature", []wire.Reply{invalid(temperature)}, [][]any{{"inferenceConfig", "temperature"}}, [][]any{{"outputConfig"}, {"system", 1, "cachePoint"}}, 2, false},
		{"the schema of the text", []wire.Reply{invalid(format)}, [][]any{{"outputConfig"}}, [][]any{{"toolConfig", "toolChoice", "tool"}, {"inferenceConfig", "temperature"}}, 2, false},
		{"the schema, then the forced tool", []wire.Reply{invalid(format), invalid(force)}, [][]any{{"outputConfig"}, {"toolConfig", "toolChoice"}}, [][]any{{"toolConfig", "tools"}}, 3, false},
		{"cache points", []wire.Reply{refusal("AccessDeniedException", cache)}, [][]any{{"system", 1}}, [][]any{{"outputConfig"}}, 2, false},
		{"everything", []wire.Reply{invalid(temperature), invalid(format), invalid(force), refusal("AccessDeniedException", cache)},
			[][]any{{"inferenceConfig", "temperature"}, {"outputConfig"}, {"toolConfig", "toolChoice"}, {"system", 1}}, nil, 5, false},
		{"the same again", []wire.Reply{invalid(temperature), invalid(temperature)}, nil, nil, 2, true},
		{"something else", []wire.Reply{invalid("The text field is blank")}, nil, nil, 1, true},
		{"another setting", []wire.Reply{invalid("This model does not support video.")}, nil, nil, 1, true},
		{"no access", []wire.Reply{refusal("AccessDeniedException", "no access")}, nil, nil, 1, true},
		{"after the answer began", []wire.Reply{wire.Say("x").And(invalid(temperature))}, nil, nil, 1, true},
	}
	for _, tt := range tests {
		for _, whole := range []bool{false, true} {
			if whole && tt.name == "after the answer began" {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				var log bytes.Buffer
				m, script := scripted(t, append(tt.refused, wire.Say("fine"))...)
				m.Whole, m.Temperature, m.Log = whole, new(0.7), slog.New(slog.NewTextHandler(&log, nil))
				req := asking(claude45, review)
				req.System = "be kind"
				_, err := drain(m, req)
				if (err != nil) != tt.fails || tt.fails && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Denied) {
					t.Fatalf("Stream = %v", err)
				}
				sent := script.Requests()
				if len(sent) != tt.asked || strings.Count(log.String(), "which is left out") != tt.asked-1 {
					t.Fatalf("%d requests, want %d; log:\n%s", len(sent), tt.asked, log.String())
				}
				last := string(sent[len(sent)-1].Body)
				for _, path := range tt.gone {
					if part(t, last, path...) != nil {
						t.Errorf("%v is still sent", path)
					}
				}
				for _, path := range tt.kept {
					if part(t, last, path...) == nil {
						t.Errorf("%v is not sent any more", path)
					}
				}
			})
		}
	}
}
