package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
)

func stream(steps ...any) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, s := range steps {
			event, _ := s.(model.Event)
			err, _ := s.(error)
			if !yield(event, err) {
				return
			}
		}
	}
}

func TestStreamTurn(t *testing.T) {
	const (
		begin    = `{"type":"stream_event","event":{"init_event_loop":true}}`
		end      = `{"type":"stream_event","event":{"complete":true}}`
		complete = `{"type":"complete","session_id":"s1"}`
		toolUse  = `{"type":"stream_event","event":{"current_tool_use":{"name":"work","tool_use_id":"c1"}}}`
	)
	data := func(s string) string { return `{"type":"stream_event","event":{"data":"` + s + `"}}` }
	stop := func(r model.StopReason) model.Stop { return model.Stop{Reason: r} }
	tests := []struct {
		name   string
		events []any
		text   string
		code   fault.Code
		want   []string
	}{
		{"text", []any{model.TextDelta{Text: "Hi"}, model.TextDelta{}, model.TextDelta{Text: "!"}, model.BlockStop{}, stop(model.EndTurn), used(1, 1)}, "Hi!", "",
			[]string{begin, data("Hi"), data("!"), end, complete}},
		{"a tool between", []any{model.TextDelta{Text: "Wait. "}, model.ToolStart{ID: "c1", Name: "work"}, model.ToolInput{JSON: "{}"}, stop(model.StopToolUse), used(1, 1),
			model.ReasoningDelta{Text: "hm"}, model.TextDelta{Text: "Done."}, stop(model.EndTurn)}, "Wait. Done.", "",
			[]string{begin, data("Wait. "), toolUse, begin, data("Done."), end, complete}},
		{"an error", []any{model.TextDelta{Text: "Hi"}, fault.Wrap(fault.Unavailable, errors.New("10.0.0.1 refused"), "the model is busy")}, "Hi", fault.Unavailable,
			[]string{begin, data("Hi"), `{"type":"error","error":"unavailable","message":"the model is busy"}`}},
		{"an inner error is not told", []any{errors.New("password is x")}, "", fault.Internal,
			[]string{`{"type":"error","error":"internal","message":"something went wrong"}`}},
		{"cut", []any{model.TextDelta{Text: "Hi"}}, "Hi", fault.Unavailable,
			[]string{begin, data("Hi"), `{"type":"error","error":"unavailable","message":"the model's answer was cut off"}`}},
		{"nothing at all", nil, "", fault.Unavailable, []string{`{"type":"error","error":"unavailable","message":"the model's answer was cut off"}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			text, err := loop.StreamTurn(t.Context(), stream(tt.events...), "s1", func(_ context.Context, m contract.ServerMessage) error {
				line, err := json.Marshal(m)
				got = append(got, string(line))
				return errors.Join(err, errors.New("nobody is there"))
			})
			if text != tt.text || fault.CodeOf(err) != tt.code {
				t.Errorf("StreamTurn = %q, %v, want %q, %s", text, err, tt.text, tt.code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}
