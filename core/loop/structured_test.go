package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

type span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

type finding struct {
	Kind  string  `json:"kind" enum:"typo,grammar"`
	Span  span    `json:"span"`
	Fix   string  `json:"fix,omitempty" jsonschema:"what to write instead"`
	Note  *string `json:"note"`
	Score float64 `json:"score" default:"1"`
}

type findings struct {
	Findings []finding         `json:"findings"`
	ByWord   map[string]span   `json:"byWord,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`
	Small    int8              `json:"small,omitempty"`
}

// final is an attempt that answers with input.
func final(input string) attempt { return append(calls("final_answer "+input), used(10, 1)) }

const good = `{"findings":[{"kind":"typo","span":{"from":1,"to":2},"note":null}]}`

var wantGood = findings{Findings: []finding{{Kind: "typo", Span: span{1, 2}, Score: 1}}}

// TestP08StructuredAnswers: each ends in a valid value or in the typed error, within three attempts.
func TestP08StructuredAnswers(t *testing.T) {
	cut := func(text string) attempt {
		return attempt{model.ToolStart{ID: "c1", Name: "final_answer"}, model.ToolInput{JSON: text}, model.Stop{Reason: model.StopMaxTokens}}
	}
	hint := "look"
	tests := []struct {
		name     string
		attempts []attempt
		want     findings
		paths    []string // of the error; nil: none
	}{
		{"valid at once", []attempt{final(good)}, wantGood, nil},
		{"nested, optional, nullable, map", []attempt{final(`{"findings":[{"kind":"grammar","span":{"from":0,"to":9},"fix":"x","note":"look","score":0.5}],"byWord":{"a":{"from":3,"to":4}}}`)},
			findings{Findings: []finding{{"grammar", span{0, 9}, "x", &hint, 0.5}}, ByWord: map[string]span{"a": {3, 4}}}, nil},
		{"null for what is optional", []attempt{final(`{"findings":[],"byWord":null,"tags":null,"small":null}`)}, findings{Findings: []finding{}}, nil},
		{"prose, then right", []attempt{says(model.EndTurn, "I found one typo."), final(good)}, wantGood, nil},
		{"JSON as text", []attempt{says(model.EndTurn, good)}, wantGood, nil},
		{"JSON in a fence", []attempt{says(model.EndTurn, "```json\n", good, "\n```")}, wantGood, nil},
		{"JSON after prose", []attempt{says(model.EndTurn, "Here: ", good), final(good)}, wantGood, nil},
		{"wrong, then right", []attempt{final(`{"findings":[{"kind":"style","span":{"from":1,"to":2},"note":null}]}`), final(good)}, wantGood, nil},
		{"two wrong, then right", []attempt{final(`{}`), says(model.EndTurn, "{}"), final(good)}, wantGood, nil},
		{"cut, then shorter", []attempt{cut(`{"findings":[{"ki`), final(good)}, wantGood, nil},
		{"broken JSON, then right", []attempt{final(`{"findings":[`), final(good)}, wantGood, nil},
		{"two answers in one reply", []attempt{calls(`final_answer {"findings":1}`, `final_answer `+good)}, wantGood, nil},

		{"always prose", []attempt{says(model.EndTurn, "One."), says(model.EndTurn, "Two."), says(model.EndTurn, "Three.")}, findings{}, []string{""}},
		{"always cut", []attempt{cut(`{"f`), cut(`{"f`), cut(good)}, findings{}, []string{""}},
		{"always broken JSON", []attempt{final(`{"f`), final(`{"f`), final(`{"f`)}, findings{}, []string{""}},
		{"always the same wrong object", []attempt{
			final(`{"findings":"none"}`), final(`{"findings":"none"}`), final(`{"findings":"none"}`)}, findings{}, []string{"findings"}},
		{"wrong in many places", []attempt{final(`{}`), final(`{}`),
			final(`{"findings":[{"kind":"style","span":{"from":"1","extra":1},"note":7}],"byWord":{"a":{"from":1}},"tags":{"x":1},"more":{}}`)}, findings{},
			[]string{"byWord.a.to", "findings[0].kind", "findings[0].note", "findings[0].span.to", "findings[0].span.extra", "findings[0].span.from", "more", "tags.x"}},
		{"a number that does not fit", []attempt{final(`{"findings":[],"small":300}`), final(`{"findings":[],"small":300}`), final(`{"findings":[],"small":300}`)},
			findings{}, []string{"small"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newScript(t, tt.attempts...)
			got, err := loop.RunInto[findings](t.Context(), loop.Once{Model: m, Input: "review", State: "acme"})
			if diff := cmp.Diff(tt.want, got.Output); diff != "" {
				t.Errorf("Output (-want +got):\n%s", diff)
			}
			if got.Structured != (tt.paths == nil) || got.State != "acme" || len(m.Requests()) != len(tt.attempts) {
				t.Errorf("result %+v after %d requests", got, len(m.Requests()))
			}
			var typed *loop.StructuredOutputError
			if tt.paths == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.As(err, &typed) || typed.Attempts != 3 || !fault.Is(err, fault.Limit) || fault.ReasonOf(err) != "structured_output" {
				t.Fatalf("RunInto = %v", err)
			}
			if diff := cmp.Diff(tt.paths, typed.Paths()); diff != "" {
				t.Errorf("paths (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

// TestP08ForcedChoice: the answer is forced by its tool's name, from the first call on where there is no other tool, else once an
// answer was none; and the model reads what was wrong.
func TestP08ForcedChoice(t *testing.T) {
	m := newScript(t, calls(`work {"x":"a"}`), says(model.EndTurn, "Done."), final(`{"from":1}`), final(`{"from":1,"to":2}`))
	got, err := loop.RunInto[span](t.Context(), loop.Once{Model: m, Input: "go", Tools: []tool.Tool{work()}})
	want := loop.Result[span]{Output: span{1, 2}, Structured: true, StopReason: model.StopToolUse, Steps: 4, Usage: model.Usage{InputTokens: 20, OutputTokens: 2}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("RunInto = %v (-want +got):\n%s", err, diff)
	}
	for i, forced := range []string{"", "", "final_answer", "final_answer"} {
		req := m.Requests()[i]
		if req.ToolChoice != (model.ToolChoice{Name: forced}) || req.AnswerTool != "final_answer" {
			t.Errorf("request %d has the choice %+v, answer tool %q", i, req.ToolChoice, req.AnswerTool)
		}
	}
	wrong := m.asked(2)
	if last := wrong[len(wrong)-1]; !strings.Contains(last, "text, and no call of final_answer") {
		t.Errorf("after prose the model reads %s", last)
	}
	wrong = m.asked(3)
	if last := wrong[len(wrong)-1]; !strings.Contains(last, "to: missing") {
		t.Errorf("after a wrong answer the model reads %s", last)
	}
	alone := newScript(t, final(`{"from":1,"to":2}`))
	if _, err := loop.RunInto[span](t.Context(), loop.Once{Model: alone, Input: "go"}); err != nil || alone.Requests()[0].ToolChoice.Name != "final_answer" {
		t.Errorf("without tools: %v, %+v", err, alone.Requests()[0].ToolChoice)
	}
}

// TestStructuredEnds: what ends a run for good is no attempt.
func TestStructuredEnds(t *testing.T) {
	blocked := newScript(t, says(model.StopGuardrail, "bad"))
	_, err := loop.RunInto[span](t.Context(), loop.Once{Model: blocked, Input: "go"})
	var typed *loop.StructuredOutputError
	if !errors.As(err, &typed) || typed.StopReason != model.StopGuardrail || typed.Attempts != 0 || !strings.Contains(err.Error(), "guardrail_intervened") {
		t.Errorf("blocked: %v", err)
	}
	few := newScript(t, final(`{"from":1}`), final(`{"from":2}`))
	_, err = loop.RunInto[span](t.Context(), loop.Once{Model: few, Input: "go", MaxIterations: 2})
	if !errors.As(err, &typed) || typed.Limit != loop.LimitSteps || typed.Attempts != 2 || !cmp.Equal(typed.Paths(), []string{"to"}) || !strings.Contains(err.Error(), "to: missing; the limit of steps is reached") {
		t.Errorf("limit of steps: %v", err)
	}
	busy := newScript(t, calls("work {}"), calls("work {}"))
	got, err := loop.RunInto[span](t.Context(), loop.Once{Model: busy, Input: "go", MaxIterations: 2, Tools: []tool.Tool{work()}})
	if !errors.As(err, &typed) || typed.Attempts != 0 || got.Structured || got.Steps != 2 {
		t.Errorf("tools without an end: %+v, %v", got, err)
	}
	denied := fault.New(fault.Denied, "no access")
	if _, err := loop.RunInto[span](t.Context(), loop.Once{Model: newScript(t, attempt{denied}), Input: "go"}); !errors.Is(err, denied) {
		t.Errorf("a model that refuses: %v", err)
	}
}

func TestStructuredRefused(t *testing.T) {
	answering := fn("final_answer", func(tool.Context, string) (any, error) { return nil, nil })
	for name, run := range map[string]func() error{
		"no model": func() error { _, err := loop.RunInto[span](t.Context(), loop.Once{Input: "go"}); return err },
		"less than one call": func() error {
			_, err := loop.RunInto[span](t.Context(), loop.Once{Model: newScript(t), Input: "go", MaxIterations: -1})
			return err
		},
		"a type that JSON cannot be read into": func() error {
			_, err := loop.RunInto[func()](t.Context(), loop.Once{Model: newScript(t), Input: "go"})
			return err
		},
		"a schema that is none": func() error {
			_, err := loop.RunInto[any](t.Context(), loop.Once{Model: newScript(t), Input: "go", Schema: &jsonschema.Schema{Ref: "#/$defs/gone"}})
			return err
		},
		"the name of the answer": func() error {
			_, err := loop.RunInto[span](t.Context(), loop.Once{Model: newScript(t), Input: "go", Tools: []tool.Tool{answering}})
			return err
		},
	} {
		if err := run(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
}

// TestStructuredOther: answers that are no structs, and a schema that somebody gives.
func TestStructuredOther(t *testing.T) {
	list, err := loop.RunInto[[]string](t.Context(), loop.Once{Model: newScript(t, final(`{"value":[1]}`), final(`{"value":["a","b"]}`)), Input: "go"})
	if err != nil || !cmp.Equal(list.Output, []string{"a", "b"}) {
		t.Errorf("a list: %v, %v", list.Output, err)
	}
	n, err := loop.RunInto[int](t.Context(), loop.Once{Model: newScript(t, says(model.EndTurn, "42")), Input: "go"})
	if err != nil || n.Output != 42 {
		t.Errorf("a number: %v, %v", n.Output, err)
	}
	type tree struct{ Left, Right *tree }
	tall, err := loop.RunInto[tree](t.Context(), loop.Once{Model: newScript(t, final(`{"Left":{}}`), final(`{"Left":{"Left":null,"Right":null},"Right":null}`)), Input: "go"})
	if err != nil || tall.Output.Left == nil || tall.Output.Right != nil {
		t.Errorf("a tree: %+v, %v", tall.Output, err)
	}
	schema := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"n": {Type: "integer", Minimum: new(3.0)}}, Required: []string{"n"}}
	raw, err := loop.RunInto[json.RawMessage](t.Context(), loop.Once{Model: newScript(t, final(`{"n":2}`), final(`{"n":12345678901234567890,"more":1e2}`)), Input: "go", Schema: schema})
	if err != nil || string(raw.Output) != `{"more":1e2,"n":12345678901234567890}` {
		t.Errorf("a schema: %s, %v", raw.Output, err)
	}
}

// TestStructuredState: the tools change the state; nothing of it reaches the model.
func TestStructuredState(t *testing.T) {
	type tenant struct {
		ID    string
		Calls int
	}
	count := fn("count", func(ctx tool.Context, _ string) (any, error) {
		state, err := tool.State[*tenant](ctx)
		if err == nil {
			state.Calls++
		}
		return "counted", err
	})
	m := newScript(t, calls("count {}", "count {}"), final(`{"from":1,"to":2}`))
	got, err := loop.RunInto[span](t.Context(), loop.Once{Model: m, Input: "go", Tools: []tool.Tool{serial(count)}, State: &tenant{ID: "secret-tenant"}})
	if diff := cmp.Diff(&tenant{"secret-tenant", 2}, got.State); err != nil || diff != "" {
		t.Errorf("RunInto = %v (-want +got):\n%s", err, diff)
	}
	for i := range m.Requests() {
		if sent := strings.Join(m.asked(i), "\n"); strings.Contains(sent, "secret-tenant") {
			t.Errorf("the model read the state: %s", sent)
		}
	}
}

// TestStructuredCancelled: the end of the context ends the run, whose answer is then none.
func TestStructuredCancelled(t *testing.T) {
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	leave := fn("leave", func(tool.Context, string) (any, error) { cancel(stop); return "bye", nil })
	m := newScript(t, calls("leave {}"), final(`{"from":1,"to":2}`))
	got, err := loop.RunInto[span](ctx, loop.Once{Model: m, Input: "go", Tools: []tool.Tool{leave}})
	if !errors.Is(err, stop) || got.Structured || len(m.Requests()) != 1 {
		t.Errorf("RunInto = %+v, %v after %d requests", got, err, len(m.Requests()))
	}
}

// serial lets one call of a tool run at a time.
func serial(t tool.Tool) tool.Tool { return oneAtATime{t, make(chan struct{}, 1)} }

type oneAtATime struct {
	tool.Tool
	turn chan struct{}
}

func (o oneAtATime) Call(ctx tool.Context, input json.RawMessage) (any, error) {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	return o.Tool.Call(ctx, input)
}
