package turn_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// takes makes a tool take some time, unless it is cut.
func takes(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// cutTools is a stage whose first invocation has to cut one of two tools.
func cutTools(s *stage.Stage, slow time.Duration) {
	s.Timeout, s.Engine.HandOff = 10*time.Second, 3*time.Second
	s.During = func() { s.During = nil; time.Sleep(5 * time.Second) }
	s.Acting = func(ctx tool.Context) {
		if ctx.ToolUseID == "call_11" {
			takes(ctx, slow)
		}
	}
}

func TestAToolThatHadEndedDoesNotRunAgain(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		cutTools(s, 4*time.Second)
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Drain(ctx), s.Check(id))
		if got := s.Ran.Runs(); got != "look_up a: 1\nwrite_down b: 1" {
			t.Errorf("tools ran: %s", got)
		}
		if n := s.State(id).Fence; n != 2 {
			t.Errorf("%d invocations, want 2", n)
		}
		want := []string{
			`action.result {"id":"call_10","name":"look_up","status":"success","output":"look_up did a","durationMs":0}`,
			`action.result {"id":"call_11","name":"write_down","status":"success","output":"write_down did b","durationMs":4000}`,
			`actions.completed {"ids":["call_10","call_11"]}`,
		}
		if diff := cmp.Diff(want, told(t, s, id, "action.result", "actions.completed")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := lastRequest(s).Messages[2].Results(); len(got) != 2 || got[0].ID != "call_10" || got[1].ID != "call_11" {
			t.Errorf("the model gets %v", got)
		}
	})
}

// TestATurnOfFifteenMinutes runs on a function with a timeout of a minute. A call of the model takes half a minute: each invocation
// has time for one, and cuts the second.
func TestATurnOfFifteenMinutes(t *testing.T) {
	steps := 20
	answer := func(req model.Request) fake.Turn {
		n := len(req.Messages) / 2
		if n == steps {
			return fake.Say("done").Pausing(10 * time.Second)
		}
		return fake.Calls("", call(n, "look_up", fmt.Sprint(n))).Pausing(5 * time.Second)
	}
	bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Timeout, s.Engine.Limits.Steps = time.Minute, 100
		_, err := s.Send(ctx, id, "take your time")
		began := s.Clock.Now()
		must(t, err, s.Drain(ctx), s.Check(id))
		if took := s.Clock.Now().Sub(began); took < 15*time.Minute {
			t.Errorf("the turn took %v, it was to be long", took)
		}
		if n := s.State(id).Fence; n < 15 {
			t.Errorf("%d invocations of a minute", n)
		}
		h, err := s.Edges.Table.History(ctx, id, s.State(id).Tip)
		must(t, err)
		want := []string{`user [{"text":"take your time"}]`}
		for n := range steps {
			want = append(want,
				fmt.Sprintf(`assistant [{"toolUse":{"toolUseId":"call_%d","name":"look_up","input":{"text":"%d"}}}]`, n, n),
				fmt.Sprintf(`user [{"toolResult":{"toolUseId":"call_%d","status":"success","content":[{"text":"look_up did %d"}]}}]`, n, n))
			if ran := s.Ran.Of("look_up", fmt.Sprint(n)); ran != 1 {
				t.Errorf("call %d ran %d times", n, ran)
			}
		}
		if diff := cmp.Diff(append(want, `assistant [{"text":"done"}]`), sent(model.Request{Messages: h.Messages})); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		// 10 tokens in for each of the 21 calls; out, 4 pieces for each with a call and 2 for the last.
		usage := `turn.completed {"result":"done","usage":{"inputTokens":210,"outputTokens":82,"cacheReadTokens":0,"cacheWriteTokens":0}}`
		if diff := cmp.Diff([]string{usage}, told(t, s, id, "turn.completed", "turn.failed")); diff != "" {
			t.Errorf("the end (-want +got):\n%s", diff)
		}
	})
}

func TestAStepLongerThanAnInvocationFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup func(s *stage.Stage)
		runs  string
	}{
		{"a tool", func(s *stage.Stage) { cutTools(s, time.Hour) }, "look_up a: 1"},
		{"an answer", func(s *stage.Stage) {
			cutTools(s, 0)
			s.Model.Answer = func(req model.Request) fake.Turn { return helpful(req).Pausing(time.Hour) }
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				tt.setup(s)
				_, err := s.Send(ctx, id, "use the tools")
				must(t, err, s.Drain(ctx), s.Rest(ctx, id), s.Check(id))
				if got := told(t, s, id, "turn.completed", "turn.failed"); len(got) != 1 || !strings.HasPrefix(got[0], `turn.failed {"status":"failed","error":"timeout"`) {
					t.Errorf("the turn ends %v", got)
				}
				if got := s.Ran.Runs(); got != tt.runs {
					t.Errorf("tools ran: %s", got)
				}
				h, err := s.Edges.Table.History(ctx, id, s.State(id).Tip)
				must(t, err)
				if _, changed := snapshot.Repair(h.Messages); changed {
					t.Errorf("the stored history needs repair: %v", h.Messages)
				}
				s.Model.Answer, s.Acting = helpful, nil
				say(t, ctx, s, "hello")
			})
		})
	}
}

func TestATurnStoppedBetweenTwoOwners(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		cutTools(s, 4*time.Second)
		p := &stage.Play{Stage: s}
		_, err := s.Send(ctx, id, "use the tools")
		first, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		must(t, err, s.Engine.Do(first, id), stop(p, id, false)(ctx), s.Drain(ctx), s.Rest(ctx, id), s.Check(id))
		want := []string{
			`action.result {"id":"call_10","name":"look_up","status":"success","output":"look_up did a","durationMs":0}`,
			`action.result {"id":"call_11","name":"write_down","status":"error","output":"` + interrupted + `","durationMs":0}`,
			`actions.completed {"ids":["call_10","call_11"]}`, `turn.failed {"status":"cancelled","error":"cancelled","usage":{"inputTokens":10,"outputTokens":10,"cacheReadTokens":0,"cacheWriteTokens":0}}`,
		}
		if diff := cmp.Diff(want, told(t, s, id, "action.result", "actions.completed", "turn.failed")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		say(t, ctx, s, "hello")
	})
}

func TestAWorkerWhoseLeaseIsOverRunsNoTool(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Limits.Parallel = 1
		other := *s.Engine
		other.Remembered = nil
		var over atomic.Bool
		s.Acting = func(tool.Context) {
			if over.Swap(true) {
				return
			}
			s.Clock.Advance(session.Lease + session.Margin + time.Second)
			must(t, other.Do(context.Background(), id))
		}
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Drain(ctx), s.Rest(ctx, id), s.Check(id))
		if got := s.Ran.Runs(); got != "look_up a: 2\nwrite_down b: 1" {
			t.Errorf("tools ran: %s, want only the one again that was running", got)
		}
	})
}

func TestResultsWhoseSaveIsCutAreSavedAtTheHandOff(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Timeout, s.Engine.HandOff = 10*time.Second, 3*time.Second
		var cut atomic.Bool
		s.Watch.Before = func(call string) {
			if call == "TransactWriteItems" && s.Ran.Of("write_down", "b") == 1 && cut.CompareAndSwap(false, true) {
				time.Sleep(8500 * time.Millisecond) // between two looks of the owner
			}
		}
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Drain(ctx), s.Check(id))
		if n := s.State(id).Fence; n != 2 || !cut.Load() {
			t.Errorf("%d invocations, want 2", n)
		}
		if got := s.Ran.Runs(); got != "look_up a: 1\nwrite_down b: 1" {
			t.Errorf("tools ran: %s", got)
		}
		if diff := cmp.Diff([]string{`actions.completed {"ids":["call_10","call_11"]}`}, told(t, s, id, "actions.completed")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
