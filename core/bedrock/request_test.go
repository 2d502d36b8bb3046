package bedrock_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// body sends req through m to a strict server and gives what came over the wire.
func body(t *testing.T, m bedrock.Model, req model.Request) string {
	t.Helper()
	script := &wire.Script{Replies: []wire.Reply{wire.Say("x")}}
	m.Client = client(t, &wire.Server{Model: script})
	if _, err := drain(m, req); err != nil {
		t.Fatalf("the service refused the request: %v", err)
	}
	return string(script.Requests()[0].Body)
}

// part gives the value at a path of the body.
func part(t *testing.T, body string, path ...any) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	for _, p := range path {
		switch p := p.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

func spec(name string) model.ToolSpec {
	return model.ToolSpec{Name: name, Description: "does " + name, Schema: json.RawMessage(`{"type":"object"}`)}
}

func TestInference(t *testing.T) {
	tests := []struct {
		name string
		m    bedrock.Model
		req  model.Request
		want any
	}{
		{"nothing said", bedrock.Model{}, hello(), map[string]any{"maxTokens": json.Number("4096")}},
		{"the model's", bedrock.Model{MaxTokens: 100, Temperature: new(0.7)}, hello(), map[string]any{"maxTokens": json.Number("100"), "temperature": json.Number("0.7")}},
		{"the request's, and zero is a value", bedrock.Model{MaxTokens: 100, Temperature: new(0.7)}, model.Request{Messages: hello().Messages, MaxTokens: 5, Temperature: new(0.0)}, map[string]any{"maxTokens": json.Number("5"), "temperature": json.Number("0")}},
		{"more than the service can count", bedrock.Model{MaxTokens: 1 << 40}, hello(), map[string]any{"maxTokens": json.Number("2147483647")}},
		{"reasoning that is switched off", bedrock.Model{Temperature: new(0.7), Fields: map[string]any{"thinking": map[string]any{"type": "disabled"}}}, hello(), map[string]any{"maxTokens": json.Number("4096"), "temperature": json.Number("0.7")}},
		{"no temperature with reasoning", bedrock.Model{Temperature: new(0.7), Fields: map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}}}, hello(), map[string]any{"maxTokens": json.Number("4096")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, part(t, body(t, tt.m, tt.req), "inferenceConfig")); diff != "" {
				t.Errorf("inferenceConfig (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidSettingsAreNeverSent(t *testing.T) {
	for name, req := range map[string]model.Request{
		"temperature": {Messages: hello().Messages, Temperature: new(1.5)},
		"max tokens":  {Messages: hello().Messages, MaxTokens: -1},
		"tool choice": {Messages: hello().Messages, ToolChoice: model.ToolChoice{Name: "nobody"}},
	} {
		m, script := scripted(t, wire.Say("x"))
		_, err := drain(m, req)
		if !fault.Is(err, fault.Invalid) || len(script.Requests()) != 0 {
			t.Errorf("%s: error = %v after %d requests, want Invalid and none", name, err, len(script.Requests()))
		}
	}
}

func TestToolChoice(t *testing.T) {
	tests := []struct {
		name   string
		choice model.ToolChoice
		want   any
	}{
		{"free", model.ToolChoice{}, nil},
		{"any", model.ToolChoice{Any: true}, map[string]any{"any": map[string]any{}}},
		{"one", model.ToolChoice{Name: "b"}, map[string]any{"tool": map[string]any{"name": "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := hello()
			req.Tools, req.ToolChoice = []model.ToolSpec{spec("a"), spec("b")}, tt.choice
			if diff := cmp.Diff(tt.want, part(t, body(t, bedrock.Model{}, req), "toolConfig", "toolChoice")); diff != "" {
				t.Errorf("toolChoice (-want +got):\n%s", diff)
			}
		})
	}
}

// With reasoning on, no request forces a call.
func TestP08ReasoningAndForcedChoice(t *testing.T) {
	for _, field := range []string{"thinking", "reasoning_config", "reasoningConfig"} {
		m := bedrock.Model{Fields: map[string]any{field: map[string]any{"type": "enabled"}, "top_k": 5}}
		req := hello()
		req.Tools = []model.ToolSpec{spec("a")}
		if got := part(t, body(t, m, req), "additionalModelRequestFields", field, "type"); got != "enabled" {
			t.Errorf("%s of a free request = %v", field, got)
		}
		req.ToolChoice = model.ToolChoice{Name: "a"}
		got := part(t, body(t, m, req), "additionalModelRequestFields")
		if diff := cmp.Diff(map[string]any{"top_k": json.Number("5")}, got); diff != "" {
			t.Errorf("fields of a forced request (-want +got):\n%s", diff)
		}
		if m.Fields[field] == nil {
			t.Errorf("the model's own fields were changed")
		}
	}
}

// The model's own fields go out as encoding/json writes them: tags, raw JSON and long numbers included.
func TestFields(t *testing.T) {
	type tagged struct {
		Budget int `json:"budget_tokens"`
	}
	m := bedrock.Model{Fields: map[string]any{"a": json.RawMessage(`{"x":[1]}`), "b": json.Number("12345678901234567890"), "c": tagged{7}}}
	got := part(t, body(t, m, hello()), "additionalModelRequestFields")
	want := map[string]any{"a": map[string]any{"x": []any{json.Number("1")}}, "b": json.Number("12345678901234567890"), "c": map[string]any{"budget_tokens": json.Number("7")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	m.Fields = map[string]any{"a": func() {}}
	m.Client = client(t, &wire.Server{})
	_, err := drain(m, hello())
	wantFault(t, err, fault.Invalid, "")
}

// JSON goes out as it came in: order, large numbers, unusual keys.
func TestDocumentsAreSentByteForByte(t *testing.T) {
	schema := `{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"enum":[1.0,1e3,"<&>"]}},"required":["z"]}`
	input := `{"z":12345678901234567890,"b":{"json":[1.50,null,true]},"a":"é\u2028"}`
	output := `{"y":-0.0,"x":[{"n":1e400}]}`
	req := model.Request{
		Tools: []model.ToolSpec{{Name: "t", Schema: json.RawMessage(schema)}},
		Messages: []model.Message{
			model.Text(model.User, "go"),
			{Role: model.Assistant, Content: []model.Block{{ToolUse: &model.ToolUse{ID: "1", Name: "t", Input: json.RawMessage(input)}}, {ToolUse: &model.ToolUse{ID: "2", Name: "t"}}}},
			{Role: model.User, Content: []model.Block{
				{ToolResult: &model.ToolResult{ID: "1", Status: model.Success, Content: []model.ResultPart{{JSON: json.RawMessage(output)}, {Text: "and text"}}}},
				{ToolResult: &model.ToolResult{ID: "2", Status: model.Failure, Content: []model.ResultPart{{Text: "no"}}}},
			}},
		},
	}
	got := body(t, bedrock.Model{}, req)
	for _, want := range []string{`"json":` + schema, `"input":` + input, `"json":` + output, `"input":{}`, `{"text":"and text"}`, `"status":"success"`, `"status":"error"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the request lacks %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, `"description"`) {
		t.Errorf("an empty description was sent:\n%s", got)
	}
}

// The same request is the same bytes, or no prompt cache would ever find it again.
func TestRequestsAreDeterministic(t *testing.T) {
	req := hello()
	req.Tools = []model.ToolSpec{spec("a"), spec("b")}
	m := bedrock.Model{Fields: map[string]any{"top_k": 5, "a": 1, "z": 2, "m": map[string]any{"y": 1, "x": 2}}}
	first := body(t, m, req)
	for range 10 {
		if got := body(t, m, req); got != first {
			t.Fatalf("requests differ:\n%s\n%s", first, got)
		}
	}
}

func TestP03BlankTextIsNeverSent(t *testing.T) {
	req := model.Request{System: " \n", Tools: []model.ToolSpec{spec("t")}, Messages: []model.Message{
		model.Text(model.User, "go"),
		{Role: model.Assistant, Content: []model.Block{{Text: " \n\t"}, {ToolUse: &model.ToolUse{ID: "1", Name: "t", Input: json.RawMessage(`null`)}}}},
		{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: "1", Status: model.Success}}}},
		{Role: model.Assistant, Content: []model.Block{{Text: ""}}},
		model.Text(model.User, " "),
	}}
	got := body(t, bedrock.Model{}, req) // the server refuses blank text, empty messages and input that is no object
	if part(t, got, "system") != nil {
		t.Errorf("a blank system text was sent:\n%s", got)
	}
}

func TestP07History(t *testing.T) {
	redacted := []byte{0, 1, 254, 255}
	call := model.Block{ToolUse: &model.ToolUse{ID: "1", Name: "t", Input: json.RawMessage(`{}`)}}
	answer := model.Message{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: "1", Status: model.Success, Content: []model.ResultPart{{Text: "ok"}}}}}}
	history := func(before ...model.Block) []model.Message {
		return []model.Message{model.Text(model.User, "go"), {Role: model.Assistant, Content: append(before, call)}, answer}
	}
	tools := []model.ToolSpec{spec("t")}

	t.Run("reasoning goes back byte for byte", func(t *testing.T) {
		req := model.Request{Tools: tools, Messages: history(
			model.Block{Reasoning: &model.Reasoning{Text: "  so <é>\n", Signature: "c2ln=="}}, model.Block{Reasoning: &model.Reasoning{Redacted: redacted}}, model.Block{Reasoning: &model.Reasoning{Text: "unsigned"}},
		)}
		got := part(t, body(t, bedrock.Model{}, req), "messages", 1, "content")
		want := []any{
			map[string]any{"reasoningContent": map[string]any{"reasoningText": map[string]any{"text": "  so <é>\n", "signature": "c2ln=="}}},
			map[string]any{"reasoningContent": map[string]any{"redactedContent": "AAH+/w=="}},
			map[string]any{"toolUse": map[string]any{"toolUseId": "1", "name": "t", "input": map[string]any{}}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("content (-want +got):\n%s", diff)
		}
	})
	t.Run("tool blocks without tools", func(t *testing.T) {
		got := body(t, bedrock.Model{}, model.Request{Messages: history()})
		if strings.Contains(got, "toolUse") || part(t, got, "toolConfig") != nil {
			t.Errorf("request = %s", got)
		}
	})
	t.Run("no cache point after reasoning or on a model without caching", func(t *testing.T) {
		req := model.Request{ModelID: "us.anthropic.claude-sonnet-4-6", Tools: tools, Messages: history(model.Block{Reasoning: &model.Reasoning{Text: "x", Signature: "y"}}, model.Block{CachePoint: true})}
		body(t, bedrock.Model{}, req) // the server refuses such points
		req.ModelID = "meta.llama3-1-70b-instruct-v1:0"
		if got := body(t, bedrock.Model{}, req); strings.Contains(got, "cachePoint") {
			t.Errorf("request = %s", got)
		}
	})
}

// What a model thought and called comes back to it unchanged, through the wire and back.
func TestReasoningRoundTrip(t *testing.T) {
	for _, ask := range []string{"think aloud, then call t", "think secretly, then call t"} {
		for _, whole := range []bool{false, true} {
			m := bedrock.Model{Client: client(t, &wire.Server{Model: wire.Offline{}}), Whole: whole}
			req := model.Request{Tools: []model.ToolSpec{spec("t")}, Messages: []model.Message{model.Text(model.User, ask)}}
			first, err := model.Collect(m.Stream(context.Background(), req))
			if err != nil || first.Message.Content[0].Reasoning == nil || len(first.Message.Calls()) != 1 {
				t.Fatalf("%s: first reply = %+v, %v", ask, first, err)
			}
			stored, err := json.Marshal(first.Message)
			if err != nil {
				t.Fatal(err)
			}
			var restored model.Message
			if err := json.NewDecoder(bytes.NewReader(stored)).Decode(&restored); err != nil {
				t.Fatal(err)
			}
			req.Messages = append(req.Messages, restored, model.Message{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: restored.Calls()[0].ID, Status: model.Success, Content: []model.ResultPart{{Text: "done"}}}}}})
			second, err := model.Collect(m.Stream(context.Background(), req))
			if err != nil || !strings.Contains(second.Message.PlainText(), "done") {
				t.Errorf("%s: second reply = %+v, %v", ask, second, err)
			}
		}
	}
}

func TestGuardrail(t *testing.T) {
	got := part(t, body(t, bedrock.Model{Guardrail: bedrock.Guardrail{ID: "gr-1"}}, hello()), "guardrailConfig")
	want := map[string]any{"guardrailIdentifier": "gr-1", "guardrailVersion": "DRAFT", "streamProcessingMode": "sync", "trace": "enabled"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("guardrailConfig (-want +got):\n%s", diff)
	}
	got = part(t, body(t, bedrock.Model{Whole: true, Guardrail: bedrock.Guardrail{ID: "gr-1", Version: "3", Async: true}}, hello()), "guardrailConfig")
	if diff := cmp.Diff(map[string]any{"guardrailIdentifier": "gr-1", "guardrailVersion": "3", "trace": "enabled"}, got); diff != "" {
		t.Errorf("guardrailConfig of Converse (-want +got):\n%s", diff)
	}
}
