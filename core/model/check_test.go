package model_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

func user(blocks ...model.Block) model.Message {
	return model.Message{Role: model.User, Content: blocks}
}

func assistant(blocks ...model.Block) model.Message {
	return model.Message{Role: model.Assistant, Content: blocks}
}

func text(s string) model.Block { return model.Block{Text: s} }

func call(id, input string) model.Block {
	return model.Block{ToolUse: &model.ToolUse{ID: id, Name: "lookup", Input: json.RawMessage(input)}}
}

func result(id, said string) model.Block {
	return model.Block{ToolResult: &model.ToolResult{ID: id, Status: model.Success, Content: []model.ResultPart{{Text: said}}}}
}

func failed(id string) model.Block {
	r := model.Interrupted(id)
	return model.Block{ToolResult: &r}
}

func signed(s string) model.Block {
	return model.Block{Reasoning: &model.Reasoning{Text: s, Signature: "sig=="}}
}

func lookup() []model.ToolSpec {
	return []model.ToolSpec{{Name: "lookup", Description: "looks up", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}
}

// valid is a request of every kind of block.
func valid() model.Request {
	return model.Request{
		System: "be brief", Tools: lookup(), MaxTokens: 100, Temperature: new(0.0),
		Messages: []model.Message{
			user(text("hi"), model.Block{CachePoint: true}),
			assistant(signed("hm"), text("let me see"), call("a.1:x", `{"q":[1]}`), call("b-2", `{}`)),
			user(result("b-2", "found"), result("a.1:x", "none"), text("and?")),
			assistant(model.Block{Reasoning: &model.Reasoning{Redacted: []byte{1}}}, text("done")),
			user(text("thanks")),
		},
	}
}

func TestCheckTakesAValidRequest(t *testing.T) {
	if err := model.Check(valid()); err != nil {
		t.Errorf("Check(valid) = %v, want nil", err)
	}
	withChoice := valid()
	withChoice.ToolChoice = model.ToolChoice{Name: "lookup"}
	if err := model.Check(withChoice); err != nil {
		t.Errorf("Check with a forced tool = %v, want nil", err)
	}
}

func TestP26CheckTools(t *testing.T) {
	tests := []struct {
		name  string
		tools []model.ToolSpec
		want  string
	}{
		{"no name", []model.ToolSpec{{}}, "tools[0].name"},
		{"dot in a name", []model.ToolSpec{{Name: "a.b"}}, "tools[0].name"},
		{"long name", []model.ToolSpec{{Name: strings.Repeat("a", 65)}}, "tools[0].name"},
		{"name twice", append(lookup(), lookup()...), "tools[1].name"},
		{"blank description", []model.ToolSpec{{Name: "a", Description: "\n", Schema: json.RawMessage(`{"type":"object"}`)}}, "tools[0].description"},
		{"no schema", []model.ToolSpec{{Name: "a"}}, "tools[0].schema"},
		{"schema of a list", []model.ToolSpec{{Name: "a", Schema: json.RawMessage(`[]`)}}, "tools[0].schema"},
		{"schema of a string", []model.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"string"}`)}}, "tools[0].schema"},
		{"anyOf at the top", []model.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"object","anyOf":[]}`)}}, "has anyOf at the top"},
		{"oneOf at the top", []model.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"object","oneOf":[]}`)}}, "has oneOf at the top"},
		{"allOf at the top", []model.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"object","allOf":[]}`)}}, "has allOf at the top"},
		{"$ref at the top", []model.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"object","$ref":"#"}`)}}, "has $ref at the top"},
		{"properties are a list", []model.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"object","properties":[]}`)}}, "has properties"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantInvalid(t, model.Request{Messages: []model.Message{user(text("hi"))}, Tools: tt.tools}, tt.want)
		})
	}
}

func TestCheckSettings(t *testing.T) {
	tests := []struct {
		name string
		set  func(r *model.Request)
		want string
	}{
		{"blank system", func(r *model.Request) { r.System = " \n" }, "system:"},
		{"negative tokens", func(r *model.Request) { r.MaxTokens = -1 }, "maxTokens:"},
		{"cold", func(r *model.Request) { r.Temperature = new(-0.1) }, "temperature:"},
		{"hot", func(r *model.Request) { r.Temperature = new(1.1) }, "temperature:"},
		{"no number", func(r *model.Request) { r.Temperature = new(math.NaN()) }, "temperature:"},
		{"unknown tool forced", func(r *model.Request) { r.ToolChoice.Name = "other" }, "toolChoice.name:"},
		{"any and one", func(r *model.Request) { r.ToolChoice = model.ToolChoice{Any: true, Name: "lookup"} }, "toolChoice:"},
		{"tool blocks without tools", func(r *model.Request) { r.Tools = nil }, "tools:"},
		{"any of none", func(r *model.Request) {
			r.ToolChoice.Any, r.Tools, r.Messages = true, nil, []model.Message{user(text("hi"))}
		}, "toolChoice:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := valid()
			tt.set(&r)
			wantInvalid(t, r, tt.want)
		})
	}
}

func TestCheckMessages(t *testing.T) {
	point := model.Block{CachePoint: true}
	part := func(p ...model.ResultPart) model.Block {
		return model.Block{ToolResult: &model.ToolResult{ID: "a", Status: model.Success, Content: p}}
	}
	answering := func(b model.Block) []model.Message {
		return []model.Message{user(text("hi")), assistant(call("a", `{}`)), user(b)}
	}
	calling := func(blocks ...model.Block) []model.Message {
		return []model.Message{user(text("hi")), assistant(blocks...), user(result("a", "x"))}
	}
	tests := []struct {
		name     string
		messages []model.Message
		want     string
	}{
		{"none", nil, "messages: must not be empty"},
		{"assistant first", []model.Message{assistant(text("hi"))}, "messages[0].role"},
		{"unknown role", []model.Message{{Role: "system", Content: []model.Block{text("hi")}}}, "messages[0].role"},
		{"user twice", []model.Message{user(text("a")), user(text("b"))}, "messages[1].role"},
		{"assistant last", []model.Message{user(text("a")), assistant(text("b"))}, "messages[1].role"},
		{"no content", []model.Message{user()}, "messages[0].content: must not be empty"},
		{"blank text", []model.Message{user(text("a"), text("\u00a0\u2003\t"))}, "messages[0].content[1].text: is blank"},
		{"zero-width text", []model.Message{user(text("\u200b\ufeff"))}, "messages[0].content[0].text: is blank"},
		{"unknown kind", []model.Message{user(model.Block{Raw: json.RawMessage(`{"image":{}}`)})}, "messages[0].content[0]: is of a kind"},
		{"two kinds", []model.Message{user(model.Block{Text: "a", CachePoint: true})}, "messages[0].content[0]: holds 2 kinds"},
		{"call from the user", []model.Message{user(call("a", `{}`))}, "messages[0].content[0].toolUse: is not from"},
		{"result from the assistant", []model.Message{user(text("a")), assistant(result("a", "x"))}, "messages[1].content[0].toolResult"},
		{"input null", calling(call("a", `null`)), "messages[1].content[0].toolUse.input: is not a JSON object"},
		{"input text", calling(call("a", `"{}"`)), "toolUse.input"},
		{"input list", calling(call("a", `[]`)), "toolUse.input"},
		{"input cut", calling(call("a", `{"q":`)), "toolUse.input"},
		{"input missing", calling(call("a", ``)), "toolUse.input"},
		{"id of spaces", calling(call("a b", `{}`)), "messages[1].content[0].toolUse.toolUseId"},
		{"long id", calling(call(strings.Repeat("a", 65), `{}`)), "toolUse.toolUseId"},
		{"id twice", calling(call("a", `{}`), call("a", `{}`)), "messages[1].content[1].toolUse.toolUseId"},
		{"call unanswered", []model.Message{user(text("a")), assistant(call("a", `{}`)), user(text("b"))}, "messages[2].content: has no result"},
		{"call last", []model.Message{user(text("a")), assistant(call("a", `{}`))}, "messages[1].role"},
		{"result of no call", []model.Message{user(result("a", "x"))}, "messages[0].content[0].toolResult.toolUseId"},
		{"result twice", []model.Message{user(text("a")), assistant(call("a", `{}`)), user(result("a", "x"), result("a", "y"))}, "messages[2].content[1].toolResult.toolUseId"},
		{"result after text", []model.Message{user(text("a")), assistant(call("a", `{}`)), user(text("b"), result("a", "x"))}, "messages[2].content[1].toolResult: stands after"},
		{"result without content", answering(part()), "messages[2].content[0].toolResult.content"},
		{"result with blank text", answering(part(model.ResultPart{Text: " "})), "toolResult.content[0].text"},
		{"result with a JSON list", answering(part(model.ResultPart{JSON: json.RawMessage(`[1]`)})), "toolResult.content[0].json"},
		{"result with two values", answering(part(model.ResultPart{Text: "a", JSON: json.RawMessage(`{}`)})), "toolResult.content[0]: holds"},
		{"result of unknown kind", answering(part(model.ResultPart{Raw: json.RawMessage(`{}`)})), "toolResult.content[0]: is of a kind"},
		{"result status", answering(model.Block{ToolResult: &model.ToolResult{ID: "a", Status: "ok", Content: []model.ResultPart{{Text: "x"}}}}), "toolResult.status"},
		{"reasoning from the user", []model.Message{user(signed("a"), text("b"))}, "messages[0].content[0].reasoning: is not from"},
		{"reasoning unsigned", calling(model.Block{Reasoning: &model.Reasoning{Text: "a"}}, call("a", `{}`)), "reasoning: is neither"},
		{"reasoning last", calling(call("a", `{}`), signed("a")), "messages[1].content[1].reasoning: is the last"},
		{"cache point first", []model.Message{user(point, text("a"))}, "messages[0].content[0].cachePoint: is the first"},
		{"cache point after reasoning", calling(signed("a"), point, call("a", `{}`)), "messages[1].content[1].cachePoint: stands after reasoning"},
		{"cache point twice", []model.Message{user(text("a"), point, point)}, "messages[0].content[2].cachePoint: stands after another"},
		{"five cache points", []model.Message{user(text("a"), point, text("a"), point, text("a"), point, text("a"), point, text("a"), point)}, "messages[0].content[9].cachePoint: is one more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantInvalid(t, model.Request{Messages: tt.messages, Tools: lookup()}, tt.want)
			if err := model.Check(model.Build(model.Request{Messages: tt.messages, Tools: lookup()})); err != nil {
				t.Errorf("Check(Build(...)) = %v, want nil", err)
			}
		})
	}
}

func wantInvalid(t *testing.T, r model.Request, want string) {
	t.Helper()
	err := model.Check(r)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("Check(...) = %v (%s), want invalid with %q", err, fault.CodeOf(err), want)
	}
}
