package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

const id = "11111111-1111-4111-8111-111111111111"

// soak asks for the long runs.
var soak = os.Getenv("SOAK") == "1"

func call(n int, name, text string) model.ToolUse {
	input, _ := json.Marshal(stage.Note{Text: text})
	return model.ToolUse{ID: fmt.Sprintf("call_%d", n), Name: name, Input: input}
}

// helpful answers by what stands in the request: a question with "tools" gets two tool calls first.
func helpful(req model.Request) fake.Turn {
	last := req.Messages[len(req.Messages)-1]
	text := last.PlainText()
	n := len(req.Messages)
	switch {
	case strings.Contains(text, "tools"):
		return fake.Calls("let me see", call(n*10, "look_up", "a"), call(n*10+1, "write_down", "b"))
	case len(last.Results()) > 0:
		return fake.Say("done ", "with ", "tools")
	}
	return fake.Say("you said ", text)
}

// as makes a send's options: its admission and its delivery id.
func as(admission contract.Admission, delivery string) func(*flow.AdmitIn) {
	return func(in *flow.AdmitIn) { in.Admission, in.DeliveryID = admission, delivery }
}

// bubble runs a test in a world of its own, where waiting costs no time.
func bubble(t *testing.T, answer func(model.Request) fake.Turn, test func(t *testing.T, ctx context.Context, s *stage.Stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, t.Context(), stage.New(&fake.Model{Answer: answer}))
	})
}

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestATurnWithTwoTools(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Drain(ctx), s.Check(id))
		if got := s.Ran.Runs(); got != "look_up a: 1\nwrite_down b: 1" {
			t.Errorf("tools ran: %s", got)
		}
		_, err = s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx), s.Check(id))
		want := `phase idle, pending 0, owner false, due false
session.started 
message.received use the tools
action.result success
action.result success
turn.completed done with tools
message.received hello
turn.completed you said hello
user [{"text":"use the tools"}]
assistant [{"text":"let me see"},{"toolUse":{"toolUseId":"call_10","name":"look_up","input":{"text":"a"}}},{"toolUse":{"toolUseId":"call_11","name":"write_down","input":{"text":"b"}}}]
user [{"toolResult":{"toolUseId":"call_10","status":"success","content":[{"text":"look_up did a"}]}},{"toolResult":{"toolUseId":"call_11","status":"success","content":[{"text":"write_down did b"}]}}]
assistant [{"text":"done with tools"}]
user [{"text":"hello"}]
assistant [{"text":"you said hello"}]
`
		if got := s.Story(id); got != want {
			t.Errorf("story:\n%s\nwant:\n%s", got, want)
		}
	})
}

// TestReasoningIsTold as it comes, between the texts around it, and as a whole when its step is known. A repeated attempt voids the
// pieces of the one before.
func TestReasoningIsTold(t *testing.T) {
	n := 0
	think := func(model.Request) fake.Turn {
		thoughtful := append(fake.Turn{
			{Event: model.ReasoningDelta{Text: "let me "}}, {Pause: time.Second, Event: model.ReasoningDelta{Text: "see"}},
			{Event: model.ReasoningDelta{Signature: "s"}}, {Event: model.BlockStop{}},
		}, answered(1, "it is ", "four")...)
		if n++; n == 1 {
			return thoughtful.Failing(2, fault.New(fault.Unavailable, "overloaded"))
		}
		return thoughtful
	}
	bubble(t, think, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		follow(t, s, "c1")
		s.Engine.Limits.Backoff = 2 * time.Second
		say(t, ctx, s, "two and two?")
		want := []string{
			`reasoning.appended {"delta":"let me see"}`, `reasoning.appended {"delta":"let me ","attempt":2}`, `reasoning.appended {"delta":"see","attempt":2}`,
			`message.appended {"delta":"it is four","attempt":2}`, `reasoning.completed {"text":"let me see"}`, `message.completed {"text":"it is four"}`,
		}
		if diff := cmp.Diff(want, told(t, s, id, "reasoning.appended", "reasoning.completed", "message.appended", "message.completed")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, m := range posts(t, s, "c1") {
			if m.Event != nil && m.Event.Data != nil && strings.Contains(*m.Event.Data, "let me") {
				t.Errorf("a socket shows reasoning: %+v", m)
			}
		}
	})
}

// TestWordsThatStandInForAReply: who follows sees why there is no other answer, live and in the log, and each step ends once.
func TestWordsThatStandInForAReply(t *testing.T) {
	busy := func(req model.Request) fake.Turn {
		return fake.Calls("", call(len(req.Messages), "look_up", "more"))
	}
	cut := func(model.Request) fake.Turn { return fake.Turn{{Event: model.Stop{Reason: model.StopMaxTokens}}} }
	const limit = "Stopped before the work was finished: the limit of 2 steps is reached."
	tests := []struct {
		name   string
		answer func(model.Request) fake.Turn
		says   string
		steps  int
	}{
		{"a limit", busy, limit, 2},
		{"cut before there was any text", cut, loop.CutText, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, tt.answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				follow(t, s, "c1")
				s.Engine.Limits.Steps = 2
				say(t, ctx, s, "go")
				want := []string{`message.appended {"delta":"` + tt.says + `"}`, `message.completed {"text":"` + tt.says + `"}`}
				if diff := cmp.Diff(want, told(t, s, id, "message.appended", "message.completed")); diff != "" {
					t.Errorf("the log (-want +got):\n%s", diff)
				}
				if got := spoken(posts(t, s, "c1")); got != tt.says {
					t.Errorf("a socket shows %q, want %q", got, tt.says)
				}
				if n := len(told(t, s, id, "step.completed")); n != tt.steps {
					t.Errorf("%d steps ended, want %d", n, tt.steps)
				}
			})
		})
	}
}

// answered is the end of a reply: its text as block n.
func answered(n int, pieces ...string) fake.Turn {
	var t fake.Turn
	for _, p := range pieces {
		t = append(t, fake.Piece{Event: model.TextDelta{Block: n, Text: p}})
	}
	return append(t, fake.Piece{Event: model.BlockStop{Block: n}}, fake.Piece{Event: model.Stop{Reason: model.EndTurn}})
}
