package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

func TestP10ASecondMessage(t *testing.T) {
	slow := func(req model.Request) fake.Turn { return helpful(req).Pausing(time.Second) }
	t.Run("the same message again", func(t *testing.T) {
		bubble(t, slow, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			first, err := s.Send(ctx, id, "hello", as(contract.Preempt, "dlv_1"))
			must(t, err)
			again := make(chan contract.Delivery, 1)
			s.During = func() {
				s.During = nil
				d, err := s.Send(ctx, id, "hello", as(contract.Preempt, "dlv_1"))
				must(t, err, s.Engine.Do(ctx, id))
				again <- d
			}
			must(t, s.Drain(ctx), s.Check(id))
			if diff := cmp.Diff(first, <-again); diff != "" {
				t.Errorf("receipts differ (-first +second):\n%s", diff)
			}
			if n := len(s.Model.Requests()); n != 1 {
				t.Errorf("%d calls of the model, want 1", n)
			}
		})
	})
	t.Run("another message interrupts", func(t *testing.T) {
		bubble(t, slow, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			_, err := s.Send(ctx, id, "hello", as(contract.Preempt, "dlv_1"))
			must(t, err)
			s.During = func() {
				s.During = nil
				_, err := s.Send(ctx, id, "wait", as(contract.Preempt, "dlv_2"))
				must(t, err)
			}
			must(t, s.Drain(ctx), s.Check(id))
			want := []string{
				`message.received {"text":"hello","deliveryIds":["dlv_1"]}`, `turn.failed {"status":"interrupted","error":"turn interrupted"}`,
				`message.received {"text":"wait","deliveryIds":["dlv_2"]}`,
			}
			if diff := cmp.Diff(want, told(t, s, id, "message.received", "turn.failed")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a stop while a tool runs", func(t *testing.T) {
		bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			s.Acting = func(ctx tool.Context) {
				if ctx.ToolUseID == "call_11" {
					_, err := flow.Stop{Edges: s.Edges}.Do(context.Background(), flow.StopIn{SessionID: id, Caller: stage.User})
					must(t, err)
					<-ctx.Done()
				}
			}
			_, err := s.Send(ctx, id, "use the tools")
			began := s.Clock.Now()
			must(t, err, s.Drain(ctx), s.Check(id))
			if took := s.Clock.Now().Sub(began); took > 3*time.Second {
				t.Errorf("stopped after %v", took)
			}
			want := []string{
				`action.result {"id":"call_10","name":"look_up","status":"success","output":"look_up did a","durationMs":0}`,
				`action.result {"id":"call_11","name":"write_down","status":"error","output":"` + interrupted + `","durationMs":0}`,
				`actions.completed {"ids":["call_10","call_11"]}`,
				`turn.failed {"status":"cancelled","error":"cancelled","usage":{"inputTokens":10,"outputTokens":10,"cacheReadTokens":0,"cacheWriteTokens":0}}`,
			}
			if diff := cmp.Diff(want, told(t, s, id, "action.result", "actions.completed", "turn.failed")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			say(t, ctx, s, "hello")
		})
	})
}

// TestAStopIsSeenWithinTwoSeconds: while the model is silent in the middle of an answer, while a tool runs, and while one runs that does
// not heed the end of its context.
func TestAStopIsSeenWithinTwoSeconds(t *testing.T) {
	for _, tt := range []struct {
		name string
		say  string
		most time.Duration
	}{{"in mid-stream", "hello", 2 * time.Second}, {"during a tool", "use the tools", 2 * time.Second}, {"during a tool that does not heed it", "use the deaf tools", 4 * time.Second}} {
		t.Run(tt.name, func(t *testing.T) {
			silent := func(req model.Request) fake.Turn {
				if strings.Contains(tt.say, "tools") {
					return helpful(req)
				}
				return append(fake.Say("one", "two")[:1], fake.Piece{Pause: time.Hour, Event: model.TextDelta{Text: "three"}})
			}
			bubble(t, silent, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				var stopped atomic.Pointer[time.Time] // also a tool that is left behind writes it
				halt := func() {
					time.Sleep(300 * time.Millisecond)
					must(t, stop(&stage.Play{Stage: s}, id, false)(context.Background()))
					stopped.Store(new(s.Clock.Now()))
				}
				s.Acting = func(ctx tool.Context) {
					if ctx.ToolUseID != "call_11" {
						return
					}
					halt()
					if strings.Contains(tt.say, "deaf") {
						time.Sleep(time.Minute)
					}
					<-ctx.Done()
				}
				if !strings.Contains(tt.say, "tools") {
					s.During = halt
				}
				_, err := s.Send(ctx, id, tt.say)
				must(t, err, s.Drain(ctx))
				took := s.Clock.Now().Sub(*stopped.Load())
				time.Sleep(2 * time.Minute) // what was left behind ends
				must(t, s.Rest(ctx, id), s.Check(id))
				if got := told(t, s, id, "turn.failed"); took > tt.most || len(got) != 1 || !strings.HasPrefix(got[0], `turn.failed {"status":"cancelled","error":"cancelled"`) {
					t.Errorf("%v after %v", got, took)
				}
			})
		})
	}
}

// TestAStopWhileTextIsWritten: the stop is seen while a row of text is on its way to the log. Whoever follows has seen the text, so it
// is kept.
func TestAStopWhileTextIsWritten(t *testing.T) {
	talking := func(model.Request) fake.Turn {
		return fake.Turn{
			{Event: model.TextDelta{Text: "one "}}, {Pause: 300 * time.Millisecond, Event: model.TextDelta{Text: "two "}},
			{Pause: time.Hour, Event: model.TextDelta{Text: "three"}},
		}
	}
	bubble(t, talking, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		var once sync.Once
		s.Watch.Before = func(call string) {
			if call == "PutItem" {
				once.Do(func() {
					s.Watch.Before = nil
					must(t, stop(&stage.Play{Stage: s}, id, false)(context.Background()))
					time.Sleep(3 * time.Second)
				})
			}
		}
		_, err := s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx), s.Rest(ctx, id), s.Check(id))
		want := []string{`message.appended {"delta":"one two "}`, `turn.failed {"status":"cancelled","error":"cancelled"}`}
		if diff := cmp.Diff(want, told(t, s, id, "message.appended", "turn.failed")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAStopAndWhatWaits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		clear bool
		want  []string
	}{
		{"a plain stop ends the turn alone", false, []string{
			`message.received {"text":"hello","deliveryIds":["dlv_1"]}`, `turn.failed {"status":"cancelled","error":"cancelled"}`,
			`message.received {"text":"then this","deliveryIds":["dlv_2"]}`}},
		{"a clearing stop cancels what waits too", true, []string{
			`message.received {"text":"hello","deliveryIds":["dlv_1"]}`, `turn.failed {"status":"cancelled","error":"cancelled"}`,
			`message.received {"text":"then this","deliveryIds":["dlv_2"]}`, `turn.failed {"status":"cancelled","error":"stopped before it began"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			slow := func(req model.Request) fake.Turn { return helpful(req).Pausing(time.Second) }
			bubble(t, slow, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				p := &stage.Play{Stage: s}
				s.During = func() {
					s.During = nil
					_, err := s.Send(context.Background(), id, "then this", as(contract.Coalesce, "dlv_2"))
					must(t, err, stop(p, id, tt.clear)(context.Background()))
				}
				_, err := s.Send(ctx, id, "hello", as(contract.Preempt, "dlv_1"))
				must(t, err, s.Drain(ctx), s.Check(id))
				if diff := cmp.Diff(tt.want, told(t, s, id, "message.received", "turn.failed")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				_, err = s.Send(ctx, id, "after all", as(contract.Preempt, "dlv_3"))
				must(t, err, s.Drain(ctx), s.Check(id))
				if got := told(t, s, id, "turn.completed"); !strings.Contains(got[len(got)-1], "you said after all") {
					t.Errorf("the message after the stop: %v", got)
				}
			})
		})
	}
}

func completions(s *stage.Stage) []string {
	var list []string
	for _, e := range s.Bus.Of(contract.AgentTaskCompleted) {
		var d contract.TaskCompleted
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return []string{err.Error()}
		}
		list = append(list, strings.TrimSpace(d.TaskID+" "+d.Status+" "+d.Output+d.Error))
	}
	return list
}

func TestP11CancelAgainstCompletion(t *testing.T) {
	p := func(s *stage.Stage) *stage.Play { return &stage.Play{Stage: s} }
	t.Run("the cancel comes first", func(t *testing.T) {
		bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			must(t, bind(p(s), request("t1", "", "hello"))(ctx))
			s.During = func() { must(t, cancel(p(s), "t1")(context.Background())) }
			must(t, s.Drain(ctx), s.Check("task-t1"))
			if diff := cmp.Diff([]string{"t1 FAILED cancelled"}, completions(s)); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
			r, err := flow.GetTask{Edges: s.Edges}.Do(ctx, flow.TaskOf{TaskID: "t1", Caller: stage.User.ID})
			if err != nil || r.Status != "FAILED" || r.Error != "cancelled" {
				t.Errorf("task: %+v, %v", r, err)
			}
		})
	})
	t.Run("the completion comes first", func(t *testing.T) {
		bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			must(t, bind(p(s), request("t1", "", "hello"))(ctx), s.Drain(ctx))
			_, err := flow.CancelTask{Edges: s.Edges}.Do(ctx, flow.TaskOf{TaskID: "t1", Caller: stage.User.ID})
			if !fault.Is(err, fault.Conflict) || fault.ReasonOf(err) != "final" {
				t.Errorf("cancel too late: %v", err)
			}
			if diff := cmp.Diff([]string{"t1 COMPLETED you said hello"}, completions(s)); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
			must(t, s.Check("task-t1"))
		})
	})
}

func TestP12DuplicatesAndDeadOwners(t *testing.T) {
	p := func(s *stage.Stage) *stage.Play { return &stage.Play{Stage: s} }
	once := []string{"t1 COMPLETED you said hello"}
	t.Run("a: the same event twice, and after the end", func(t *testing.T) {
		bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			do := publish(p(s), request("t1", "", "hello"))
			must(t, do(ctx), do(ctx), s.Drain(ctx), do(ctx), s.Drain(ctx), s.Check("task-t1"))
			if n := len(s.Model.Requests()); n != 1 {
				t.Errorf("%d calls of the model, want 1", n)
			}
			if diff := cmp.Diff(once, completions(s)); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
			if dead := s.Bus.DeadLetters(); len(dead) > 0 {
				t.Errorf("deliveries failed: %v", dead)
			}
		})
	})
	t.Run("b: killed after the claim", func(t *testing.T) {
		bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			must(t, bind(p(s), request("t1", "", "hello"))(ctx))
			s.World.Disturb(fake.Disturbance{Name: "dynamo.UpdateItem", Worker: "delivery-1", Mode: fake.KillAfter})
			began := s.Clock.Now()
			must(t, s.Drain(ctx))
			if st := s.State("task-t1"); st.Owner == "" || len(completions(s)) != 0 {
				t.Fatalf("not killed after its claim: %+v", st)
			}
			for len(completions(s)) == 0 && s.Clock.Now().Sub(began) < time.Hour {
				s.Clock.Advance(time.Minute) // a sweep a minute
				_, err := s.Sweep(ctx)
				must(t, err, s.Drain(ctx))
			}
			if took := s.Clock.Now().Sub(began); took > 96*time.Second {
				t.Errorf("taken over after %v, want a lease and a sweep", took)
			}
			must(t, s.Check("task-t1"))
			if diff := cmp.Diff(once, completions(s)); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("c: a retry while the first run is alive", func(t *testing.T) {
		slow := func(req model.Request) fake.Turn { return helpful(req).Pausing(30 * time.Second) }
		bubble(t, slow, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			must(t, bind(p(s), request("t1", "", "hello"))(ctx))
			go func() {
				time.Sleep(time.Minute)
				err := bind(p(s), request("t1", "", "hello"))(ctx)
				_, sweepErr := s.Sweep(ctx)
				if err := s.Engine.Do(ctx, "task-t1"); err != nil {
					t.Error(err)
				}
				if err != nil || sweepErr != nil {
					t.Error(err, sweepErr)
				}
			}()
			must(t, s.Drain(ctx), s.Rest(ctx, "task-t1"), s.Check("task-t1"))
			if n := len(s.Model.Requests()); n != 1 {
				t.Errorf("%d calls of the model, want 1", n)
			}
			if diff := cmp.Diff(once, completions(s)); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("d: time is short", func(t *testing.T) {
		slow := func(req model.Request) fake.Turn { return helpful(req).Pausing(3 * time.Second) }
		bubble(t, slow, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			s.Timeout, s.Engine.HandOff = time.Minute, 20*time.Second
			must(t, bind(p(s), request("t1", "", "use the tools"))(ctx), s.Drain(ctx), s.Check("task-t1"))
			if n := s.State("task-t1").Fence; n < 2 {
				t.Errorf("%d invocations, want at least 2", n)
			}
			if got := s.Ran.Runs(); got != "look_up a: 1\nwrite_down b: 1" {
				t.Errorf("tools ran: %s", got)
			}
			if diff := cmp.Diff([]string{"t1 COMPLETED done with tools"}, completions(s)); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
		})
	})
}

func TestP13AdmitDoesNotWaitForTheModel(t *testing.T) {
	bubble(t, func(req model.Request) fake.Turn { return helpful(req).Pausing(30 * time.Second) }, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		began := s.Clock.Now()
		_, err := s.Send(ctx, id, "hello")
		must(t, err)
		if took := s.Clock.Now().Sub(began); took != 0 || len(s.Model.Requests()) != 0 {
			t.Errorf("admitted after %v and %d calls of the model", took, len(s.Model.Requests()))
		}
		must(t, s.Drain(ctx), s.Check(id))
		if took := s.Clock.Now().Sub(began); took < 90*time.Second {
			t.Errorf("the turn took %v, it was to be long", took)
		}
	})
}
