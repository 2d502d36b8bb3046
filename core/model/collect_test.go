package model_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

func stream(events ...model.Event) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestCollect(t *testing.T) {
	tests := []struct {
		name   string
		events []model.Event
		want   model.Reply
	}{
		{"pieces of text are joined as they came", []model.Event{
			model.TextDelta{Text: " He"}, model.TextDelta{Text: "llo\n"}, model.TextDelta{Text: "😀 "}, model.BlockStop{},
			model.Stop{Reason: model.EndTurn}, model.UsageReport{Usage: model.Usage{InputTokens: 3, OutputTokens: 4}},
		}, model.Reply{Message: assistant(text(" Hello\n😀 ")), Stop: model.EndTurn, Usage: model.Usage{InputTokens: 3, OutputTokens: 4}}},
		{"reasoning and its signature in pieces, redacted bytes", []model.Event{
			model.ReasoningDelta{Text: "h"}, model.ReasoningDelta{Text: "m"}, model.ReasoningDelta{Signature: "si"}, model.ReasoningDelta{Signature: "g=="},
			model.ReasoningDelta{Block: 1, Redacted: []byte{1, 2}}, model.ReasoningDelta{Block: 1, Redacted: []byte{3}},
			model.TextDelta{Block: 2, Text: "ok"}, model.Stop{Reason: model.EndTurn},
		}, model.Reply{Message: assistant(signed("hm"), model.Block{Reasoning: &model.Reasoning{Redacted: []byte{1, 2, 3}}}, text("ok")), Stop: model.EndTurn}},
		{"blocks by number, input in pieces, no input", []model.Event{
			model.ToolStart{Block: 2, ID: "b", Name: "lookup"}, model.BlockStop{Block: 2},
			model.ToolStart{Block: 1, ID: "a", Name: "lookup"}, model.ToolInput{Block: 1, JSON: `{"q"`}, model.ToolInput{Block: 1, JSON: `:1}`},
			model.TextDelta{Block: 0, Text: "x"}, model.Stop{Reason: model.StopToolUse},
		}, model.Reply{Message: assistant(text("x"), call("a", `{"q":1}`), call("b", `{}`)), Stop: model.StopToolUse}},
		{"a call without id gets one", []model.Event{
			model.ToolStart{Block: 3, Name: "lookup"}, model.Stop{Reason: model.StopToolUse},
		}, model.Reply{Message: assistant(call("call_3", `{}`)), Stop: model.StopToolUse}},
		{"input that is no object becomes one", []model.Event{
			model.ToolStart{ID: "a", Name: "lookup"}, model.ToolInput{JSON: `null`}, model.Stop{Reason: model.StopToolUse},
		}, model.Reply{Message: assistant(call("a", `{}`)), Stop: model.StopToolUse}},
		{"nothing after the stop but usage counts", []model.Event{
			model.TextDelta{Text: "a"}, model.Stop{Reason: model.EndTurn}, model.TextDelta{Text: "b"}, model.Stop{Reason: model.StopMaxTokens}, nil,
		}, model.Reply{Message: assistant(text("a")), Stop: model.EndTurn}},
		{"an empty answer", []model.Event{model.TextDelta{}, model.Stop{Reason: model.EndTurn}}, model.Reply{Message: assistant(), Stop: model.EndTurn}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantReply(t, tt.events, tt.want) })
	}
}

func TestP04StopReasonAndContentDisagree(t *testing.T) {
	tests := []struct {
		name   string
		events []model.Event
		want   model.Reply
	}{
		{"a call cut by the limit is left out", []model.Event{
			model.TextDelta{Text: "let me"}, model.ToolStart{Block: 1, ID: "a", Name: "lookup"}, model.ToolInput{Block: 1, JSON: `{"q":"pa`},
			model.BlockStop{Block: 1}, model.Stop{Reason: model.StopMaxTokens},
		}, model.Reply{Message: assistant(text("let me")), Stop: model.StopMaxTokens}},
		{"a call cut before its input is left out", []model.Event{
			model.ToolStart{ID: "a", Name: "lookup"}, model.BlockStop{}, model.Stop{Reason: model.StopMaxTokens},
		}, model.Reply{Message: assistant(), Stop: model.StopMaxTokens}},
		{"whole calls before the cut one stay", []model.Event{
			model.ToolStart{ID: "a", Name: "lookup"}, model.BlockStop{},
			model.ToolStart{Block: 1, ID: "b", Name: "lookup"}, model.ToolInput{Block: 1, JSON: `{`}, model.Stop{Reason: model.StopContextFull},
		}, model.Reply{Message: assistant(call("a", `{}`)), Stop: model.StopContextFull}},
		{"a whole call with the end of the turn is a call", []model.Event{
			model.ToolStart{ID: "a", Name: "lookup"}, model.ToolInput{JSON: `{"q":1}`}, model.BlockStop{}, model.Stop{Reason: model.EndTurn},
		}, model.Reply{Message: assistant(call("a", `{"q":1}`)), Stop: model.EndTurn}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantReply(t, tt.events, tt.want) })
	}
}

func wantReply(t *testing.T, events []model.Event, want model.Reply) {
	t.Helper()
	got, err := model.Collect(stream(events...))
	if err != nil {
		t.Fatalf("Collect = %v, want nil", err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Collect (-want +got):\n%s", diff)
	}
}

func TestCollectFaults(t *testing.T) {
	tests := []struct {
		name, want string
		events     []model.Event
	}{
		{"P05: an end without a stop", "stream_cut", []model.Event{model.TextDelta{Text: "a"}, model.BlockStop{}}},
		{"nothing at all", "stream_cut", nil},
		{"usage is no stop", "stream_cut", []model.Event{model.UsageReport{}}},
		{"a finished call with broken input", "malformed_call", []model.Event{
			model.ToolStart{ID: "a", Name: "lookup"}, model.ToolInput{JSON: `{"q":`}, model.BlockStop{}, model.Stop{Reason: model.StopToolUse}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := model.Collect(stream(tt.events...))
			if !fault.Is(err, fault.Unavailable) || fault.ReasonOf(err) != tt.want {
				t.Errorf("Collect = %v (%s, %s), want unavailable, %s", err, fault.CodeOf(err), fault.ReasonOf(err), tt.want)
			}
		})
	}
	broken := errors.New("throttled")
	_, err := model.Collect(func(yield func(model.Event, error) bool) {
		if yield(model.TextDelta{Text: "a"}, nil) {
			yield(nil, broken)
		}
	})
	if !errors.Is(err, broken) {
		t.Errorf("Collect = %v, want the stream's error", err)
	}
}
