package model_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/steadfast-agents/steadfast/core/model"
)

// anyText, anyID and so on draw what a careless writer might have stored.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"", " ", "\n\t", "\u200b", "hi", "\xff", "<&>"}), rapid.StringN(0, 8, 20))
}

func anyID() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "c", "a b", "call_0", "é"}), rapid.StringN(0, 70, 200))
}

func anyJSON() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		s := rapid.SampledFrom([]string{"", "null", `""`, `"{}"`, `"x"`, "[]", "[1,{}]", "{}", `{"a":1e400}`, `{"a":`, " {} ", "xx", "1", "true", `"\"\""`}).Draw(t, "json")
		if s == "" && rapid.Bool().Draw(t, "nil") {
			return nil
		}
		return json.RawMessage(s)
	})
}

func anyPart() *rapid.Generator[model.ResultPart] {
	return rapid.Custom(func(t *rapid.T) model.ResultPart {
		p := model.ResultPart{Text: anyText().Draw(t, "text")}
		switch rapid.IntRange(0, 4).Draw(t, "part") {
		case 0:
			p.JSON = anyJSON().Draw(t, "part json")
		case 1:
			p.Raw = anyJSON().Draw(t, "part raw")
		}
		return p
	})
}

func anyBlock() *rapid.Generator[model.Block] {
	return rapid.Custom(func(t *rapid.T) model.Block {
		var b model.Block
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		if kind <= 2 || kind == 9 {
			b.Text = anyText().Draw(t, "text")
		}
		switch {
		case kind == 3 || kind == 4:
			b.ToolUse = &model.ToolUse{ID: anyID().Draw(t, "id"), Name: anyID().Draw(t, "name"), Input: anyJSON().Draw(t, "input")}
		case kind == 5 || kind == 6 || kind == 9:
			status := rapid.SampledFrom([]model.ToolStatus{"", model.Success, model.Failure, "odd"}).Draw(t, "status")
			b.ToolResult = &model.ToolResult{ID: anyID().Draw(t, "id"), Status: status, Content: rapid.SliceOfN(anyPart(), 0, 3).Draw(t, "parts")}
		case kind == 7:
			b.Reasoning = &model.Reasoning{Text: anyText().Draw(t, "thought"), Signature: rapid.SampledFrom([]string{"", "s"}).Draw(t, "sig"), Redacted: rapid.SliceOfN(rapid.Byte(), 0, 2).Draw(t, "red")}
		case kind == 8:
			b.CachePoint = rapid.Bool().Draw(t, "point")
			if !b.CachePoint {
				b.Raw = anyJSON().Draw(t, "raw")
			}
		}
		return b
	})
}

func anyHistory() *rapid.Generator[[]model.Message] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) model.Message {
		role := rapid.SampledFrom([]model.Role{model.User, model.Assistant, "system", ""}).Draw(t, "role")
		return model.Message{Role: role, Content: rapid.SliceOfN(anyBlock(), 0, 5).Draw(t, "content")}
	}), 0, 10)
}

func anyRequest() *rapid.Generator[model.Request] {
	return rapid.Custom(func(t *rapid.T) model.Request {
		r := model.Request{System: anyText().Draw(t, "system"), Messages: anyHistory().Draw(t, "messages")}
		for range rapid.IntRange(0, 3).Draw(t, "tools") {
			r.Tools = append(r.Tools, model.ToolSpec{Name: anyID().Draw(t, "tool"), Description: anyText().Draw(t, "description"), Schema: anyJSON().Draw(t, "schema")})
		}
		return r
	})
}

func TestBuildIsTotalAndIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRequest().Draw(t, "request")
		before := clone(r)
		built := model.Build(r)
		if err := model.Check(built); err != nil {
			t.Fatalf("Check(Build(r)) = %v, want nil", err)
		}
		if diff := cmp.Diff(before, r); diff != "" {
			t.Fatalf("Build changed its input (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(built, model.Build(built), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Build is not idempotent (-once +twice):\n%s", diff)
		}
	})
}

func TestRepairIsIdempotentAndKeepsWhatBuildSends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory().Draw(t, "history")
		fixed, _ := model.Repair(history)
		again, changed := model.Repair(fixed)
		if diff := cmp.Diff(fixed, again, cmpopts.EquateEmpty()); diff != "" || changed {
			t.Fatalf("Repair is not idempotent (changed %v, -once +twice):\n%s", changed, diff)
		}
		data, err := json.Marshal(fixed)
		if err != nil {
			t.Fatalf("a repaired history cannot be stored: %v", err)
		}
		var loaded []model.Message
		if err := json.Unmarshal(data, &loaded); err != nil {
			t.Fatalf("a stored history cannot be loaded: %v", err)
		}
		if _, changed := model.Repair(loaded); changed {
			t.Fatalf("a history that was repaired, stored and loaded changes again: %s", data)
		}
	})
}

// clone copies what Build could reach.
func clone(r model.Request) model.Request {
	messages := make([]model.Message, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = model.Message{Role: m.Role, Content: make([]model.Block, len(m.Content))}
		for j, b := range m.Content {
			messages[i].Content[j] = cloneBlock(b)
		}
		if m.Content == nil {
			messages[i].Content = nil
		}
	}
	if r.Messages != nil {
		r.Messages = messages
	}
	r.Tools = append([]model.ToolSpec(nil), r.Tools...)
	return r
}

func cloneBlock(b model.Block) model.Block {
	if b.ToolUse != nil {
		use := *b.ToolUse
		b.ToolUse = &use
	}
	if b.ToolResult != nil {
		result := *b.ToolResult
		if result.Content != nil {
			result.Content = append([]model.ResultPart{}, result.Content...)
		}
		b.ToolResult = &result
	}
	if b.Reasoning != nil {
		reasoning := *b.Reasoning
		b.Reasoning = &reasoning
	}
	return b
}

func FuzzBuild(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":[{"text":"hi"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"x","input":null}}]}]`), true)
	f.Add([]byte(`[{"role":"assistant","content":[{"reasoning":{"text":"a","redactedContent":"AA=="}},{"cachePoint":{}}]},{"content":"words"}]`), false)
	f.Add([]byte(`[{"role":"user","content":[{"toolResult":{"toolUseId":"a","status":"x","content":[{"json":[1]},{"image":1},null]}},{"text":5},7]}]`), true)
	f.Fuzz(func(t *testing.T, data []byte, tools bool) {
		var r model.Request
		if json.Unmarshal(data, &r.Messages) != nil {
			t.Skip("no messages")
		}
		if tools {
			r.Tools = lookup()
		}
		built := model.Build(r)
		if err := model.Check(built); err != nil {
			t.Fatalf("Check(Build(%s)) = %v", data, err)
		}
		if diff := cmp.Diff(built, model.Build(built), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Build(%s) is not idempotent:\n%s", data, diff)
		}
		if _, err := json.Marshal(built.Messages); err != nil {
			t.Fatalf("Build(%s) cannot be sent: %v", data, err)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	r := model.Request{Tools: lookup()}
	for range 2500 {
		r.Messages = append(r.Messages, user(text("hi")), assistant(text("a moment"), call("a", `{"q":"x"}`)), user(result("a", "x")), assistant(text("done")))
	}
	for b.Loop() {
		model.Build(r)
	}
}
