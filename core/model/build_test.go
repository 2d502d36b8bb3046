package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/steadfast-agents/steadfast/core/model"
)

// build checks what Build gives for a history with the tool lookup.
func build(t *testing.T, messages ...model.Message) []model.Message {
	t.Helper()
	r := model.Build(model.Request{Messages: messages, Tools: lookup()})
	if err := model.Check(r); err != nil {
		t.Fatalf("Check(Build(...)) = %v, want nil", err)
	}
	return r.Messages
}

func wantMessages(t *testing.T, got []model.Message, want ...model.Message) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestP01AnInterruptedCallGetsAnErrorResult(t *testing.T) {
	stored := []model.Message{user(text("hi")), assistant(text("a moment"), call("a", `{}`))}
	fixed, changed := model.Repair(stored)
	if !changed {
		t.Error("Repair said nothing changed")
	}
	wantMessages(t, fixed, stored[0], stored[1], user(failed("a")))
	if _, again := model.Repair(fixed); again {
		t.Error("a second Repair changed the history again")
	}
	want := []model.Message{stored[0], stored[1], user(failed("a"), text("are you there?"))}
	wantMessages(t, build(t, append(fixed, user(text("are you there?")))...), want...)
	wantMessages(t, build(t, append(stored, user(text("are you there?")))...), want...)
}

func TestP02ResultsOfParallelCallsShareOneMessage(t *testing.T) {
	calls := assistant(call("1", `{}`), call("2", `{}`), call("3", `{}`))
	got := build(t, user(text("hi")), calls, user(result("3", "c")), user(result("1", "a")), user(failed("2")))
	wantMessages(t, got, user(text("hi")), calls, user(result("1", "a"), failed("2"), result("3", "c")))
}

func TestP03BlankAndBadlyTypedBlocks(t *testing.T) {
	t.Run("blank text beside a call", func(t *testing.T) {
		got := build(t, user(text("hi")), assistant(text(" \n\n"), call("a", `{}`)), user(result("a", "x")))
		wantMessages(t, got, user(text("hi")), assistant(call("a", `{}`)), user(result("a", "x")))
	})
	inputs := []struct{ name, input, want string }{
		{"none", ``, `{}`},
		{"null", `null`, `{}`},
		{"empty text", `""`, `{}`},
		{"blank text", `" "`, `{}`},
		{"object as text", `"{\"q\":1}"`, `{"q":1}`},
		{"object as text as text", `"\"{}\""`, `{}`},
		{"null as text", `"null"`, `{}`},
		{"cut", `{"q":`, `{}`},
		{"two bytes that are no JSON", `xx`, `{}`},
		{"words", `"paris"`, `{"input":"paris"}`},
		{"list", `[1]`, `{"input":[1]}`},
		{"number", `9007199254740993`, `{"input":9007199254740993}`},
		{"object", `{"n":9007199254740993,"e":1e400,"l":[],"o":{}}`, `{"n":9007199254740993,"e":1e400,"l":[],"o":{}}`},
	}
	for _, tt := range inputs {
		t.Run("input "+tt.name, func(t *testing.T) {
			got := build(t, user(text("hi")), assistant(call("a", tt.input)), user(result("a", "x")))
			wantMessages(t, got, user(text("hi")), assistant(call("a", tt.want)), user(result("a", "x")))
		})
	}
	t.Run("empty messages", func(t *testing.T) {
		got := build(t, user(text(" ")), assistant(), user(text("hi")))
		wantMessages(t, got, user(text("(no text)")), assistant(text("(no answer)")), user(text("hi")))
	})
}

func TestP07WhatIsReplayedWithHistory(t *testing.T) {
	opaque := model.Block{Reasoning: &model.Reasoning{Redacted: []byte{0, 255, 7}}}
	point := model.Block{CachePoint: true}
	t.Run("reasoning goes back byte for byte", func(t *testing.T) {
		history := []model.Message{user(text("hi")), assistant(signed(" hm\n"), opaque, call("a", `{}`)), user(result("a", "x"))}
		stored, err := json.Marshal(history)
		if err != nil {
			t.Fatal(err)
		}
		var loaded []model.Message
		if err := json.Unmarshal(stored, &loaded); err != nil {
			t.Fatal(err)
		}
		wantMessages(t, build(t, loaded...), history...)
	})
	t.Run("unsigned, trailing and the user's reasoning is left out", func(t *testing.T) {
		unsigned := model.Block{Reasoning: &model.Reasoning{Text: "hm"}}
		got := build(t, user(signed("x"), text("hi")), assistant(unsigned, text("yes"), signed("y")), user(text("ok")))
		wantMessages(t, got, user(text("hi")), assistant(text("yes")), user(text("ok")))
	})
	t.Run("tool blocks without tools are text", func(t *testing.T) {
		r := model.Build(model.Request{Messages: []model.Message{
			user(text("hi")), assistant(call("a", `{"q":1}`), call("b", `{}`)), user(result("a", "found")),
		}})
		if err := model.Check(r); err != nil {
			t.Errorf("Check = %v, want nil", err)
		}
		got, _ := json.Marshal(r.Messages)
		for _, want := range []string{`lookup`, `found`, `failed`, `interrupted`} {
			if !strings.Contains(string(got), want) {
				t.Errorf("flattened history %s lacks %q", got, want)
			}
		}
	})
	t.Run("cache points", func(t *testing.T) {
		got := build(t,
			user(point, text("1"), point, point), assistant(signed("x"), point, text("2"), point), user(text("3"), point),
			assistant(text("4"), point), user(text("5"), point, text("6"), point))
		wantMessages(t, got,
			user(text("1")), assistant(signed("x"), text("2")), user(text("3"), point),
			assistant(text("4"), point), user(text("5"), point, text("6"), point))
	})
}

func TestP26ToolNames(t *testing.T) {
	long := "server__" + strings.Repeat("x", 60)
	tools := []model.ToolSpec{
		{Name: "db.query", Schema: json.RawMessage(`{"type":"object","oneOf":[{"properties":{"a":{}}}]}`)},
		{Name: long}, {Name: "db_query"}, {Name: "db.query"},
	}
	use := func(id, name string) model.Block {
		return model.Block{ToolUse: &model.ToolUse{ID: id, Name: name, Input: json.RawMessage(`{}`)}}
	}
	r := model.Build(model.Request{
		Tools: tools, ToolChoice: model.ToolChoice{Name: "db.query"},
		Messages: []model.Message{user(text("hi")), assistant(use("a", "db.query"), use("b", long))},
	})
	if err := model.Check(r); err != nil {
		t.Fatalf("Check = %v, want nil", err)
	}
	if len(r.Tools) != 3 || r.Tools[2].Name != "db_query" {
		t.Errorf("tools = %v, want 3, the valid name untouched", r.Tools)
	}
	calls := r.Messages[1].Calls()
	for i, name := range []string{"db.query", long} {
		if want := model.ToolName(name); r.Tools[i].Name != want || calls[i].Name != want {
			t.Errorf("%q: tool %q, call %q, want both %q", name, r.Tools[i].Name, calls[i].Name, want)
		}
	}
	if r.ToolChoice.Name != model.ToolName("db.query") {
		t.Errorf("forced tool = %q, want %q", r.ToolChoice.Name, model.ToolName("db.query"))
	}
}

func TestBuildPairs(t *testing.T) {
	t.Run("one id in two turns", func(t *testing.T) {
		got := build(t, user(text("1")), assistant(call("a", `{}`)), user(result("a", "first")),
			assistant(call("a", `{}`)), user(result("a", "second")))
		first, second := got[1].Calls()[0], got[3].Calls()[0]
		if first.ID != "a" || second.ID == "a" || got[4].Results()[0].ID != second.ID {
			t.Errorf("ids %q, %q, result %q: want a, another, the same", first.ID, second.ID, got[4].Results()[0].ID)
		}
		if said := got[4].Results()[0].Content[0].Text; said != "second" {
			t.Errorf("the second call's result = %q, want second", said)
		}
	})
	t.Run("ids the service refuses", func(t *testing.T) {
		got := build(t, user(text("1")), assistant(call("é b", `{}`), call("", `{}`)), user(result("", "none"), result("é b", "odd")))
		calls, results := got[1].Calls(), got[2].Results()
		for i, want := range []string{"odd", "none"} {
			if results[i].ID != calls[i].ID || results[i].Content[0].Text != want {
				t.Errorf("result %d = %+v of call %q, want %q", i, results[i], calls[i].ID, want)
			}
		}
	})
	t.Run("a late second result is dropped, one of no call is text", func(t *testing.T) {
		got := build(t, user(text("1")), assistant(call("a", `{}`)), user(result("a", "x"), result("a", "y")),
			assistant(text("ok")), user(result("a", "z"), result("ghost", "boo"), text("go on")))
		wantMessages(t, got, user(text("1")), assistant(call("a", `{}`)), user(result("a", "x")),
			assistant(text("ok")), user(text("[tool result: boo]"), text("go on")))
	})
	t.Run("calls and results on the wrong side", func(t *testing.T) {
		got := build(t, user(call("a", `{"q":1}`)), assistant(result("a", "x")), user(text("hm")))
		wantMessages(t, got, user(text(`[tool call: lookup {"q":1}]`)), assistant(text("[tool result: x]")), user(text("hm")))
	})
	t.Run("results without content, with other JSON, of unknown kinds", func(t *testing.T) {
		odd := model.Block{ToolResult: &model.ToolResult{ID: "a", Content: []model.ResultPart{
			{Text: " "}, {JSON: json.RawMessage(`[1,2]`)}, {JSON: json.RawMessage(`"said"`)}, {JSON: json.RawMessage(`null`)},
			{JSON: json.RawMessage(`{"n":1e400}`)}, {Raw: json.RawMessage(`{"image":{"format":"png"}}`)},
		}}}
		none := model.Block{ToolResult: &model.ToolResult{ID: "b", Status: "broken"}}
		got := build(t, user(text("1")), assistant(call("a", `{}`), call("b", `{}`)), user(odd, none))
		want := []model.ToolResult{
			{ID: "a", Status: model.Success, Content: []model.ResultPart{
				{Text: "[1,2]"}, {Text: "said"}, {JSON: json.RawMessage(`{"n":1e400}`)}, {Text: "(a part that cannot be shown: image)"}}},
			{ID: "b", Status: model.Failure, Content: []model.ResultPart{{Text: "(no output)"}}},
		}
		if diff := cmp.Diff(want, got[2].Results()); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

func TestBuildEnds(t *testing.T) {
	wantMessages(t, build(t), user(text("(please go on)")))
	wantMessages(t, build(t, assistant(text("hello"))),
		user(text("(the conversation begins with an answer)")), assistant(text("hello")), user(text("(please go on)")))
	wantMessages(t, build(t, user(text("a")), model.Message{Role: "system", Content: []model.Block{text("b")}}), user(text("a"), text("b")))
	image := model.Block{Raw: json.RawMessage(`{"image":{}}`)}
	wantMessages(t, build(t, user(image)), user(text("(no text)")))
	if fixed, changed := model.Repair([]model.Message{user(image)}); changed || fixed[0].Content[0].Raw == nil {
		t.Errorf("Repair of an unknown block = %v, %v, want it kept", fixed, changed)
	}
}

func TestRepairJoinsNeighboursWithoutCallingItAChange(t *testing.T) {
	a, b := user(text("a")), user(text("b"))
	a.Extra = map[string]json.RawMessage{"trackingId": json.RawMessage(`"1"`)}
	b.Extra = map[string]json.RawMessage{"trackingId": json.RawMessage(`"2"`), "metadata": json.RawMessage(`{}`)}
	fixed, changed := model.Repair([]model.Message{a, b})
	want := user(text("a"), text("b"))
	want.Extra = map[string]json.RawMessage{"trackingId": json.RawMessage(`"1"`), "metadata": json.RawMessage(`{}`)}
	wantMessages(t, fixed, want)
	if changed {
		t.Error("Repair called a join a change")
	}
	if len(a.Extra) != 1 || len(a.Content) != 1 || string(b.Extra["trackingId"]) != `"2"` {
		t.Errorf("Repair changed its input: %+v, %+v", a, b)
	}
}

func TestRepairTellsEveryChange(t *testing.T) {
	thought := model.Block{Reasoning: &model.Reasoning{Text: "unsigned"}}
	point := model.Block{CachePoint: true}
	odd := model.Block{ToolResult: &model.ToolResult{ID: "a", Content: []model.ResultPart{{Text: "x"}}}}
	tests := []struct {
		name    string
		history []model.Message
		want    bool
	}{
		{"nothing there", nil, false},
		{"a sound history at rest", []model.Message{user(text("1"), point), assistant(thought, call("a", `{}`)), user(result("a", "x")), assistant(text("2"))}, false},
		{"neighbours", []model.Message{user(text("1")), user(text("2")), assistant(text("3")), assistant(text("4"))}, false},
		{"input", []model.Message{user(text("1")), assistant(call("a", `null`)), user(result("a", "x"))}, true},
		{"one id twice", []model.Message{user(text("1")), assistant(call("a", `{}`)), user(result("a", "x")), assistant(call("a", `{}`)), user(result("a", "x"))}, true},
		{"blank text", []model.Message{user(text("1"), text(" "))}, true},
		{"no content", []model.Message{user()}, true},
		{"answer first", []model.Message{assistant(text("1"))}, true},
		{"result without status", []model.Message{user(text("1")), assistant(call("a", `{}`)), user(odd)}, true},
		{"result after text", []model.Message{user(text("1")), assistant(call("a", `{}`)), user(text("2"), result("a", "x"))}, true},
		{"results in another order", []model.Message{user(text("1")), assistant(call("a", `{}`), call("b", `{}`)), user(result("b", "x"), result("a", "y"))}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fixed, changed := model.Repair(tt.history)
			if changed != tt.want {
				t.Errorf("Repair(...) changed = %v, want %v: %v", changed, tt.want, fixed)
			}
		})
	}
}
