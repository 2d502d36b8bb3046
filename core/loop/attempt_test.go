package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

func TestP05FailureInMidStream(t *testing.T) {
	throttled := fault.New(fault.Unavailable, "slow down")
	broken := append(attempt{model.TextDelta{Text: "The answ"}, model.TextDelta{Text: "er is"}}, throttled)
	callThenBroken := append(calls(`work {"x":"bad"}`)[:3], throttled)
	tests := []struct {
		name  string
		first attempt
		want  []string
	}{
		{"an error event", broken, []string{"step 1", "attempt 1.1", "text The answ", "text er is", "reset 1", "attempt 1.2", "text The answer is 4.", `replied 1 end_turn assistant: "The answer is 4."`}},
		{"no end of the message", broken[:2], []string{"step 1", "attempt 1.1", "text The answ", "text er is", "reset 1", "attempt 1.2", "text The answer is 4.", `replied 1 end_turn assistant: "The answer is 4."`}},
		{"an empty stream", attempt{}, []string{"step 1", "attempt 1.1", "reset 1", "attempt 1.2", "text The answer is 4.", `replied 1 end_turn assistant: "The answer is 4."`}},
		{"a whole call, then an error", callThenBroken, []string{"step 1", "attempt 1.1", "tool-use c1 work", "reset 1", "attempt 1.2", "text The answer is 4.", `replied 1 end_turn assistant: "The answer is 4."`}},
		{"a whole call, then nothing", calls("work {}")[:3], []string{"step 1", "attempt 1.1", "tool-use c1 work", "reset 1", "attempt 1.2", "text The answer is 4.", `replied 1 end_turn assistant: "The answer is 4."`}},
		{"a call whose input is no JSON", calls(`work {"x":`), []string{"step 1", "attempt 1.1", "tool-use c1 work", "reset 1", "attempt 1.2", "text The answer is 4.", `replied 1 end_turn assistant: "The answer is 4."`}},
		{"malformed", says("malformed_model_output", "xx"), []string{"step 1", "attempt 1.1", "text xx", "reset 1", "attempt 1.2", "text The answer is 4.", `replied 1 end_turn assistant: "The answer is 4."`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				never := fn("work", func(tool.Context, string) (any, error) { t.Error("a tool of a failed attempt ran"); return nil, nil })
				tr := &trace{}
				m := newScript(t, tt.first, says(model.EndTurn, "The answer is 4."))
				out, err := loop.Runner{Model: m, Tools: []tool.Tool{never}, Watch: tr.watch}.Run(t.Context(), tool.Context{}, history("2+2?"))
				if err != nil || out.Final.PlainText() != "The answer is 4." || out.Steps != 1 {
					t.Errorf("Run = %+v, %v", out, err)
				}
				if diff := cmp.Diff(tt.want, tr.lines); diff != "" {
					t.Errorf("course of the run (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(m.asked(0), m.asked(1)); diff != "" {
					t.Errorf("the second attempt asks something else:\n%s", diff)
				}
			})
		})
	}
}

func TestP05RetriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := fault.New(fault.Unavailable, "busy")
		fails := func(n int) attempt { return attempt{used(n, 0), busy} }
		m := newScript(t, fails(1), fails(2), fails(3), fails(4), fails(5), fails(6), fails(7), fails(8))
		begin := time.Now()
		out, err := loop.Runner{Model: m, Limits: loop.Limits{Attempts: 8}}.Run(t.Context(), tool.Context{}, history("go"))
		if !errors.Is(err, busy) || !strings.Contains(err.Error(), "model call of step 1") {
			t.Errorf("Run = %v, want %v", err, busy)
		}
		if want := (500 + 1000 + 2000 + 4000 + 8000 + 16000 + 20000) * time.Millisecond; time.Since(begin) != want {
			t.Errorf("the waits took %s, want %s", time.Since(begin), want)
		}
		if out.Usage.InputTokens != 36 || out.Steps != 0 {
			t.Errorf("usage = %+v after %d steps, want what the failed attempts used and no step", out.Usage, out.Steps)
		}
	})
}

func TestNotRetried(t *testing.T) {
	tests := []struct {
		name    string
		attempt attempt
		code    fault.Code
		reason  string
	}{
		{"refused request", attempt{fault.New(fault.Invalid, "bad request")}, fault.Invalid, ""},
		{"no access", attempt{model.TextDelta{Text: "x"}, fault.New(fault.Denied, "no access")}, fault.Denied, ""},
		{"an error without a code", attempt{errors.New("what?")}, fault.Internal, ""},
		{"too long for the model", says(model.StopContextFull, "half"), fault.Limit, "context_full"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := &trace{}
			_, err := loop.Runner{Model: newScript(t, tt.attempt), Watch: tr.watch}.Run(t.Context(), tool.Context{}, history("go"))
			if fault.CodeOf(err) != tt.code || fault.ReasonOf(err) != tt.reason {
				t.Errorf("Run = %v (%s, %s), want %s, %s", err, fault.CodeOf(err), fault.ReasonOf(err), tt.code, tt.reason)
			}
			if last := tr.lines[len(tr.lines)-1]; last != "reset 1" {
				t.Errorf("the last event is %q, want what was shown to be void", last)
			}
		})
	}
}

func TestTheStreamBreaksAfterItsEnd(t *testing.T) {
	m := newScript(t, append(says(model.EndTurn, "whole"), fault.New(fault.Unavailable, "connection reset")))
	out, err := loop.Runner{Model: m}.Run(t.Context(), tool.Context{}, history("go"))
	if err != nil || out.Final.PlainText() != "whole" {
		t.Errorf("Run = %+v, %v, want the answer that was whole", out, err)
	}
}

func TestP04ACutCallNeverRuns(t *testing.T) {
	tests := []struct {
		name  string
		reply attempt
		want  string
	}{
		{"cut input", attempt{model.TextDelta{Text: "I will."}, model.ToolStart{Block: 1, ID: "c1", Name: "work"}, model.ToolInput{Block: 1, JSON: `{"x":"a`}}, `assistant: "I will."`},
		{"no input yet", attempt{model.TextDelta{Text: "I will."}, model.ToolStart{Block: 1, ID: "c1", Name: "work"}}, `assistant: "I will."`},
		{"nothing but the call", attempt{model.ToolStart{ID: "c1", Name: "work"}, model.ToolInput{JSON: `{"x":`}}, `assistant: "` + loop.CutText + `"`},
		{"cut after a whole call", attempt{model.ToolStart{ID: "c1", Name: "work"}, model.ToolInput{JSON: `{}`}, model.BlockStop{}, model.ToolStart{Block: 1, ID: "c2", Name: "work"}}, `assistant: "` + loop.CutText + `"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			never := fn("work", func(tool.Context, string) (any, error) { t.Error("the tool ran"); return nil, nil })
			tr := &trace{}
			m := newScript(t, append(tt.reply, model.Stop{Reason: model.StopMaxTokens}), says(model.EndTurn, "fine"))
			r := loop.Runner{Model: m, Tools: []tool.Tool{never}, Journal: tr}
			out, err := r.Run(t.Context(), tool.Context{}, history("go"))
			if err != nil || out.Limit != loop.LimitMaxTokens || out.Stop != model.StopMaxTokens || brief(out.Final) != tt.want || len(tr.lines) != 0 {
				t.Errorf("Run = %s, %+v, %v, saved %q, want %s and nothing saved", brief(out.Final), out, err, tr.lines, tt.want)
			}
			if _, err := r.Run(t.Context(), tool.Context{}, append(history("go"), out.Final, model.Text(model.User, "go on"))); err != nil {
				t.Errorf("the next message: %v", err)
			}
		})
	}
}

func TestP04ACompleteCallRunsWhateverTheStopReason(t *testing.T) {
	reply := calls(`work {"x":"it"}`)
	reply[len(reply)-1] = model.Stop{Reason: model.EndTurn}
	m := newScript(t, reply, says(model.EndTurn, "done"))
	out, err := loop.Runner{Model: m, Tools: []tool.Tool{work()}}.Run(t.Context(), tool.Context{}, history("go"))
	if err != nil || out.Final.PlainText() != "done" || out.Steps != 2 {
		t.Errorf("Run = %+v, %v", out, err)
	}
	if got, want := m.asked(1)[2], `user: c1:"worked on it"`; got != want {
		t.Errorf("the model saw %s, want %s", got, want)
	}
}

func TestBlockedAnswerIsWithdrawn(t *testing.T) {
	for _, stop := range []model.StopReason{model.StopGuardrail, model.StopFiltered} {
		t.Run(string(stop), func(t *testing.T) {
			tr := &trace{}
			m := newScript(t, append(says(stop, "something bad"), used(5, 2)))
			out, err := loop.Runner{Model: m, Watch: tr.watch}.Run(t.Context(), tool.Context{}, history("go"))
			if err != nil || out.Stop != stop || out.Final.PlainText() != loop.BlockedText || out.Usage.OutputTokens != 2 {
				t.Errorf("Run = %+v, %v, want stop %s and the notice", out, err, stop)
			}
			want := []string{"step 1", "attempt 1.1", "text something bad", "reset 1", fmt.Sprintf("replied 1 %s assistant: %q", stop, loop.BlockedText)}
			if diff := cmp.Diff(want, tr.lines); diff != "" {
				t.Errorf("course of the run (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCancelledInMidStream(t *testing.T) {
	stop := errors.New("stopped by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	tr := &trace{}
	m := newScript(t, attempt{model.TextDelta{Text: "The"}, model.TextDelta{Text: " answer"}, model.Stop{Reason: model.EndTurn}})
	m.Script[0] = m.Script[0].Waiting(1, make(chan struct{}))
	out, err := loop.Runner{Model: m, Watch: func(e loop.Event) {
		tr.watch(e)
		if _, ok := e.(loop.Text); ok {
			cancel(stop)
		}
	}}.Run(ctx, tool.Context{}, history("go"))
	if !errors.Is(err, stop) || len(out.Final.Content) != 0 {
		t.Errorf("Run = %+v, %v, want %v", out, err, stop)
	}
	if diff := cmp.Diff([]string{"step 1", "attempt 1.1", "text The", "reset 1"}, tr.lines); diff != "" {
		t.Errorf("course of the run (-want +got):\n%s", diff)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("handed off")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		m := newScript(t, attempt{fault.New(fault.Unavailable, "busy")})
		begin := time.Now()
		_, err := loop.Runner{Model: m, Limits: loop.Limits{Backoff: time.Minute}}.Run(ctx, tool.Context{}, history("go"))
		if !errors.Is(err, stop) || time.Since(begin) != time.Second {
			t.Errorf("Run = %v after %s, want %v after 1s", err, time.Since(begin), stop)
		}
	})
}

func TestSleepIsTheOwners(t *testing.T) {
	tired := errors.New("no time left")
	var waits []time.Duration
	r := loop.Runner{Model: newScript(t, attempt{}, attempt{}), Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		if len(waits) == 2 {
			return tired
		}
		return nil
	}}
	if _, err := r.Run(t.Context(), tool.Context{}, history("go")); !errors.Is(err, tired) {
		t.Errorf("Run = %v, want %v", err, tired)
	}
	if diff := cmp.Diff([]time.Duration{500 * time.Millisecond, time.Second}, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestCallIDsAreUnique(t *testing.T) {
	odd := attempt{
		model.ToolStart{Block: 0, ID: "", Name: "work"}, model.ToolStart{Block: 1, ID: "has space", Name: "work"},
		model.ToolStart{Block: 2, ID: "x", Name: "work"}, model.ToolStart{Block: 3, ID: "x", Name: "work"}, model.Stop{Reason: model.StopToolUse},
	}
	for prefix, want := range map[string][]string{
		"":     {"call-1-1", "call-1-2", "x", "call-1-3", "c1", "call-3-1"},
		"turn": {"turn-1-1", "turn-1-2", "turn-1-3", "turn-1-4", "turn-2-1", "turn-3-1"}, // whatever the model says
	} {
		m := newScript(t, odd, calls("work {}"), calls("work {}"), says(model.EndTurn, "done"))
		tr := &trace{}
		if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{work()}, Journal: tr, CallPrefix: prefix}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, l := range tr.lines {
			if id, ok := strings.CutPrefix(l, "may-run "); ok {
				ids = append(ids, id)
			}
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("ids with the prefix %q (-want +got):\n%s", prefix, diff)
		}
	}
}
