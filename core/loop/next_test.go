package loop_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
)

// decided writes a decision in one line.
func decided(d loop.Decision) string {
	line := string(d.Action)
	for _, c := range d.Calls {
		line += " " + c.ID
	}
	if d.Action == loop.Finish {
		line += fmt.Sprintf(" stop=%s limit=%s %s", d.Stop, d.Limit, brief(d.Final))
	}
	if d.Err != nil {
		line += fmt.Sprintf(" %s %s", fault.CodeOf(d.Err), fault.ReasonOf(d.Err))
	}
	return line
}

// TestP04StopReasonAndContent has a row for every stop reason, with the decision for each kind of content.
func TestP04StopReasonAndContent(t *testing.T) {
	call := model.Block{ToolUse: &model.ToolUse{ID: "c1", Name: "work", Input: json.RawMessage(`{}`)}}
	text := model.Block{Text: "hello"}
	contents := [][]model.Block{{text}, {call}, {text, call}, {{Text: " \n"}}, nil}
	const (
		run     = "run_tools c1"
		useless = "fail unavailable model_output"
		full    = "fail limit context_full"
		cut     = `"The answer was cut off: the output limit was reached before there was any text."`
	)
	finish := func(stop, limit, message string) string {
		return fmt.Sprintf("finish stop=%s limit=%s assistant: %s", stop, limit, message)
	}
	blocked := func(stop string) []string {
		s := finish(stop, "", `"The answer was withheld by a content filter."`)
		return []string{s, s, s, s, s}
	}
	fails := func(s string) []string { return []string{s, s, s, s, s} }
	tests := []struct {
		stop model.StopReason
		want []string // text, call, text and call, blank text, nothing
	}{
		{model.EndTurn, []string{finish("end_turn", "", `"hello"`), run, run, finish("end_turn", "", `" \n"`), finish("end_turn", "", "")}},
		{model.StopSequence, []string{finish("stop_sequence", "", `"hello"`), run, run, finish("stop_sequence", "", `" \n"`), finish("stop_sequence", "", "")}},
		{model.StopToolUse, []string{finish("tool_use", "", `"hello"`), run, run, useless, useless}},
		{model.StopMaxTokens, []string{finish("max_tokens", "max_tokens", `"hello"`), finish("max_tokens", "max_tokens", cut), finish("max_tokens", "max_tokens", `"hello"`),
			finish("max_tokens", "max_tokens", `" \n" `+cut), finish("max_tokens", "max_tokens", cut)}},
		{model.StopGuardrail, blocked("guardrail_intervened")},
		{model.StopFiltered, blocked("content_filtered")},
		{model.StopContextFull, fails(full)},
		{"malformed_model_output", fails(useless)},
		{"malformed_tool_use", fails(useless)},
		{"a_reason_of_tomorrow", fails(useless)},
	}
	for _, tt := range tests {
		t.Run(string(tt.stop), func(t *testing.T) {
			var got []string
			for _, content := range contents {
				h := append(history("go"), model.Message{Role: model.Assistant, Content: content})
				got = append(got, decided(loop.Next(loop.State{History: h, Stop: tt.stop}, loop.Limits{})))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("decisions for text, call, both, blank, nothing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNextFromHistory(t *testing.T) {
	more := model.Message{Role: model.User, Content: append(answered("a", "b").Content, model.Block{Text: "and hurry"})}
	tests := []struct {
		name string
		h    []model.Message
		want string
	}{
		{"empty", nil, "fail invalid "},
		{"a question", history("go"), "ask"},
		{"a later question", history("go", "gone", "again"), "ask"},
		{"calls nobody ran", history("go", called("a", "b")), "run_tools a b"},
		{"some answered", history("go", called("a", "b", "c"), answered("b")), "run_tools a c"},
		{"answered in pieces", history("go", called("a", "b", "c"), answered("b"), answered("a")), "run_tools c"},
		{"all answered", history("go", called("a", "b"), answered("b", "a")), "ask"},
		{"all answered, and a message taken", history("go", called("a", "b"), more), "ask"},
		{"results of an earlier step do not count", history("go", called("a"), answered("a"), called("a")), "run_tools a"},
		{"P01: the user spoke over an open call", history("go", called("a"), "never mind"), "ask"},
		{"the user spoke over a half answered step", history("go", called("a", "b"), answered("a"), model.Text(model.User, "never mind")), "ask"},
		{"already answered", history("go", "gone"), `finish stop=end_turn limit= assistant: "gone"`},
		{"begins with a reply", history(called("a")), "run_tools a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := decided(loop.Next(loop.State{History: tt.h}, loop.Limits{})); got != tt.want {
				t.Errorf("Next = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNextLimits(t *testing.T) {
	h := history("go", called("a"), answered("a"))
	const steps = `finish stop= limit=steps assistant: "Stopped before the work was finished: the limit of %d steps is reached."`
	const tokens = `finish stop= limit=tokens assistant: "Stopped before the work was finished: the limit of 100 tokens is reached."`
	usage := model.Usage{InputTokens: 40, OutputTokens: 30, CacheReadTokens: 20, CacheWriteTokens: 10}
	tests := []struct {
		name   string
		h      []model.Message
		spent  loop.Spent
		limits loop.Limits
		want   string
	}{
		{"one step left", h, loop.Spent{Steps: 24}, loop.Limits{}, "ask"},
		{"default steps", h, loop.Spent{Steps: 25}, loop.Limits{}, fmt.Sprintf(steps, 25)},
		{"own steps", h, loop.Spent{Steps: 2}, loop.Limits{Steps: 2}, fmt.Sprintf(steps, 2)},
		{"tokens of every kind count", h, loop.Spent{Usage: usage}, loop.Limits{Tokens: 100}, tokens},
		{"tokens left", h, loop.Spent{Usage: usage}, loop.Limits{Tokens: 101}, "ask"},
		{"no limit of tokens", h, loop.Spent{Usage: usage}, loop.Limits{}, "ask"},
		{"open calls run before the limit counts", history("go", called("a")), loop.Spent{Steps: 25}, loop.Limits{}, "run_tools a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := decided(loop.Next(loop.State{History: tt.h, Spent: tt.spent}, tt.limits)); got != tt.want {
				t.Errorf("Next = %s, want %s", got, tt.want)
			}
		})
	}
}
