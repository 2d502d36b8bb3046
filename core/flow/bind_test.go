package flow_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

func completions(t *testing.T, s *stage.Stage) []string {
	t.Helper()
	var list []string
	for _, e := range s.Bus.Of(contract.AgentTaskCompleted) {
		var d contract.TaskCompleted
		must(t, json.Unmarshal(e.Detail, &d))
		list = append(list, d.TaskID+" "+d.Status+" "+d.Output+d.Error)
	}
	return list
}

func TestTasksThatCannotRunAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		more func(r *task.Request)
		want string
	}{
		{"another's session", func(r *task.Request) { r.SessionID, r.Principal = id, other }, "not your session"},
		{"a task's session", func(r *task.Request) { r.SessionID = "task-t0" }, "a task session takes no follow-ups"},
		{"a session id of tasks", func(r *task.Request) { r.SessionID = "task-t8" }, `session id: must not start with "task-", which is kept for tasks`},
		{"no request", func(r *task.Request) { r.Request = "" }, "request: must not be empty"},
		{"a long chain", func(r *task.Request) { r.Depth = 9 }, "depth: 9 tasks started one another, the limit is 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				_, err := s.Send(ctx, id, "hello")
				_, bindErr := bind(ctx, s, request("t0", ""))
				must(t, err, bindErr, s.Drain(ctx))
				r := request("t1", "")
				tt.more(&r)
				got, err := bind(ctx, s, r)
				want := task.Result{TaskID: "t1", Status: task.Failed, Error: tt.want}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("bind (-want +got): %v\n%s", err, diff)
				}
				must(t, s.Drain(ctx), s.Check(id, "task-t0"))
				if diff := cmp.Diff([]string{"t0 COMPLETED ok", "t1 FAILED " + tt.want}, completions(t, s)); diff != "" {
					t.Errorf("completions (-want +got):\n%s", diff)
				}
				if again, err := bind(ctx, s, r); err != nil || again != want || len(completions(t, s)) != 2 {
					t.Errorf("the same delivery again: %+v, %v", again, err)
				}
			})
		})
	}
}

func TestADeliberateRetryRunsAgain(t *testing.T) {
	n := 0
	answer := func(model.Request) fake.Turn {
		if n++; n == 1 {
			return fake.Turn{{Err: fault.New(fault.Invalid, "not today")}}
		}
		return fake.Say("done")
	}
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Model.Answer = answer
		first := request("t1", "")
		_, err := bind(ctx, s, first)
		must(t, err, s.Drain(ctx))
		got, err := bind(ctx, s, first)
		if err != nil || got.Status != task.Failed || n != 1 {
			t.Errorf("a duplicate of the failed delivery: %+v, %v, %d runs", got, err, n)
		}
		second := first
		second.DeliveryID = "dlv_again"
		_, err = bind(ctx, s, second)
		must(t, err, s.Drain(ctx), s.Check("task-t1", "task-t1.2"))
		if diff := cmp.Diff([]string{"t1 FAILED not today", "t1 COMPLETED done"}, completions(t, s)); diff != "" {
			t.Errorf("completions (-want +got):\n%s", diff)
		}
		for _, r := range []task.Request{first, second} {
			if got, err := bind(ctx, s, r); err != nil || n != 2 {
				t.Errorf("after the end: %+v, %v, %d runs", got, err, n)
			}
		}
	})
}

func TestATaskWaitsForItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := s.Send(ctx, id, "hello")
		must(t, err)
		s.During = func() {
			s.During = nil
			_, err := bind(context.Background(), s, request("t1", id))
			_, sendErr := s.Send(context.Background(), id, "bye", func(in *flow.AdmitIn) { in.Admission = contract.Coalesce })
			must(t, err, sendErr)
		}
		must(t, s.Drain(ctx), s.Check(id))
		if n := len(s.Model.Requests()); n != 3 {
			t.Errorf("%d turns, want three: a task's message is taken alone", n)
		}
		if diff := cmp.Diff([]string{"t1 COMPLETED ok"}, completions(t, s)); diff != "" {
			t.Errorf("completions (-want +got):\n%s", diff)
		}
	})
}

func TestATaskBeforeItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		r := request("t1", "")
		r.NotBefore = contract.At(s.Clock.Now().Add(time.Minute))
		began := s.Clock.Now()
		_, err := bind(ctx, s, r)
		if took := s.Clock.Now().Sub(began); err != nil || took < time.Minute {
			t.Errorf("bound after %v, %v", took, err)
		}
		r = request("t2", "")
		r.NotBefore = contract.At(s.Clock.Now().Add(time.Hour))
		if _, err := bind(ctx, s, r); !fault.Is(err, fault.Unavailable) {
			t.Errorf("an hour early: %v", err)
		}
		must(t, s.Drain(ctx), s.Check("task-t1"))
	})
}

func TestCancelTask(t *testing.T) {
	cancel := func(ctx context.Context, s *stage.Stage, caller string) (task.Result, error) {
		return flow.CancelTask{Edges: s.Edges}.Do(ctx, flow.TaskOf{TaskID: "t1", Caller: caller})
	}
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		if _, err := cancel(ctx, s, stage.User.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("cancel of nothing: %v", err)
		}
		_, err := s.Edges.Table.CreateTask(ctx, request("t1", ""))
		must(t, err)
		if _, err := cancel(ctx, s, other.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("cancel by another: %v", err)
		}
		for range 2 {
			r, err := cancel(ctx, s, stage.User.ID)
			if err != nil || r.Status != task.Failed || r.Error != task.ReasonCancelled {
				t.Errorf("cancel: %+v, %v", r, err)
			}
		}
		late := request("t1", "")
		late.DeliveryID = "dlv_late"
		if r, err := bind(ctx, s, late); err != nil || r.Error != task.ReasonCancelled {
			t.Errorf("a delivery after it: %+v, %v", r, err)
		}
		s.Clock.Advance(2 * time.Minute)
		must(t, s.Recover(ctx), s.Check())
		if diff := cmp.Diff([]string{"t1 FAILED cancelled"}, completions(t, s)); diff != "" || len(s.Model.Requests()) != 0 {
			t.Errorf("completions (-want +got):\n%s", diff)
		}
	})
}

// TestADeletedSessionEndsItsTasks: the one whose turn is open, and the one that waits.
func TestADeletedSessionEndsItsTasks(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Round = 6 * time.Minute
		for _, r := range []task.Request{request("t1", id), request("t2", id)} {
			_, err := bind(ctx, s, r)
			must(t, err)
		}
		s.During = func() { s.During = nil; must(t, remove(context.Background(), s, stage.User)) }
		must(t, s.Drain(ctx), s.Rest(ctx, id), s.Check(id))
		want := []string{"t1 FAILED session deleted", "t2 FAILED session deleted"}
		if diff := cmp.Diff(want, completions(t, s)); diff != "" {
			t.Errorf("completions (-want +got):\n%s", diff)
		}
		if got := s.State(id).Phase; got != session.Deleted {
			t.Errorf("the session is %s", got)
		}
	})
}
