package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// sid names a session of a test with several.
func sid(n int) string { return fmt.Sprintf("11111111-1111-4111-8111-%012d", n) }

// crowd counts the turns that run a model at the same time, and the most there ever were.
type crowd struct{ now, most atomic.Int64 }

// unhurried is helpful, and takes a second for each piece.
func unhurried(req model.Request) fake.Turn { return helpful(req).Pausing(time.Second) }

// lastSaid lists the last message of each call of the model, in order.
func lastSaid(s *stage.Stage) (list []string) {
	for _, r := range s.Model.Requests() {
		list = append(list, r.Messages[len(r.Messages)-1].PlainText())
	}
	return list
}

// watch makes the stage count.
func (c *crowd) watch(s *stage.Stage) {
	s.Streaming = func(n int64) {
		c.now.Add(n)
		c.most.Store(max(c.most.Load(), c.now.Load()))
	}
}

// crowded is a play with a capacity.
func crowded(c turn.Capacity) (*stage.Play, *crowd) {
	p, n := play(helpful), &crowd{}
	n.watch(p.Stage)
	p.Engine.Capacity = c
	return p, n
}

// empty is the check that nobody has a place or waits for one, and that never more than most ran.
func empty(p *stage.Play, n *crowd, most int64, sessionIDs ...string) func() error {
	return func() error {
		if n.most.Load() > most {
			return fmt.Errorf("%d turns ran at once, %d may", n.most.Load(), most)
		}
		if err := vacant(p.Stage); err != nil {
			return err
		}
		return p.Check(sessionIDs...)
	}
}

// vacant is the check that no place is lent and nobody waits for one.
func vacant(s *stage.Stage) error {
	for _, row := range s.Dynamo.Items("SLOT#") {
		parsed, _ := stage.Parse(row)
		if parsed.Kind == "waiter" {
			return fmt.Errorf("%v still waits", parsed.Parts)
		}
		line, err := s.Edges.Table.Line(context.Background(), parsed.Parts[0])
		if err != nil || slices.ContainsFunc(line.Places, func(p session.Place) bool { return !p.Free(s.Clock.Now()) }) {
			return fmt.Errorf("a place is still lent: %+v, %v", line, err)
		}
	}
	return nil
}

// positions lists what the sessions were told of the line.
func positions(t *testing.T, s *stage.Stage, sessions ...string) (list []string) {
	t.Helper()
	for _, id := range sessions {
		list = append(list, strings.Join(told(t, s, id, "turn.queued"), " "))
	}
	return list
}

// together runs each of the sessions as an invocation of its own, all at once, and then what the bus has.
func together(ctx context.Context, s *stage.Stage, sessions ...string) error {
	ended := make(chan error)
	for _, id := range sessions {
		go func() { ended <- s.Engine.Do(ctx, id) }()
		time.Sleep(10 * time.Millisecond)
	}
	var failed error
	for range sessions {
		if err := <-ended; err != nil {
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	return s.Drain(ctx)
}

func TestTurnsWaitForAPlace(t *testing.T) {
	bubble(t, unhurried, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		c := &crowd{}
		c.watch(s)
		s.Engine.Capacity = turn.Capacity{Stack: 1}
		ids := []string{sid(1), sid(2), sid(3)}
		for _, id := range ids {
			_, err := s.Send(ctx, id, "hello")
			must(t, err)
		}
		must(t, together(ctx, s, ids...))
		must(t, s.Check(ids...), empty(&stage.Play{Stage: s}, c, 1, ids...)())
		want := []string{"", `turn.queued {"position":1}`, `turn.queued {"position":2}`}
		if diff := cmp.Diff(want, positions(t, s, ids...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if n := len(s.Model.Requests()); n != 3 || c.most.Load() != 1 {
			t.Errorf("%d calls of the model, %d at once", n, c.most.Load())
		}
	})
}

func TestTheOldestIsNext(t *testing.T) {
	bubble(t, unhurried, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Capacity = turn.Capacity{Stack: 1}
		var ids []string
		for n := range 6 {
			ids = append(ids, sid(n))
			_, err := s.Send(ctx, sid(n), fmt.Sprintf("message %d", n))
			must(t, err)
		}
		s.During = func() { // who holds the place gets more and more to do
			if n := len(s.Model.Requests()); n < 4 {
				_, err := s.Send(ctx, sid(0), "and another", as(contract.Coalesce, fmt.Sprintf("dlv_%d", n)))
				must(t, err)
			}
		}
		must(t, together(ctx, s, ids...), s.Check(ids...))
		want := []string{"message 0", "message 1", "message 2", "message 3", "message 4", "message 5", "and anotherand anotherand another"}
		if diff := cmp.Diff(want, lastSaid(s)); diff != "" {
			t.Errorf("answered in this order (-want +got):\n%s", diff)
		}
	})
}

func TestPlacesOfAPrincipal(t *testing.T) {
	bubble(t, unhurried, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		c := &crowd{}
		c.watch(s)
		s.Engine.Capacity = turn.Capacity{Stack: 2, Principal: 1}
		other := func(in *flow.AdmitIn) { in.Caller = task.User("user-2") }
		ids := []string{sid(1), sid(2), sid(3), sid(4)}
		for n, id := range ids {
			_, err := s.Send(ctx, id, "hello", func(in *flow.AdmitIn) {
				if n >= 2 {
					other(in)
				}
			})
			must(t, err)
		}
		must(t, together(ctx, s, ids...), s.Check(ids...))
		want := []string{"", `turn.queued {"position":1}`, "", `turn.queued {"position":1}`}
		if diff := cmp.Diff(want, positions(t, s, ids...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		must(t, empty(&stage.Play{Stage: s}, c, 2)())
		if n := c.most.Load(); n != 2 {
			t.Errorf("%d turns ran at once, want 2: one of each user", n)
		}
	})
}

// TestAPlaceIsNotKeptForWhoCannotTakeIt: two of one user, who may run one, and one of another wait for the stack. While the first runs the
// second cannot, so the third has its place.
func TestAPlaceIsNotKeptForWhoCannotTakeIt(t *testing.T) {
	answer := func(req model.Request) fake.Turn {
		if strings.Contains(req.Messages[0].PlainText(), "long") {
			return fake.Say("this", "takes").Pausing(time.Hour)
		}
		return helpful(req)
	}
	bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Capacity = turn.Capacity{Stack: 2, Principal: 1}
		lent := func(n int) session.Place {
			return session.Place{Scope: "stack", Number: n}.Lent("another", session.Me{Owner: "another's", Fence: 1}, s.Clock.Now().Add(time.Hour))
		}
		table := s.Edges.Table
		must(t, table.Commit(ctx, table.TakePlace(lent(1))), table.Commit(ctx, table.TakePlace(lent(2))))
		for n, text := range []string{"long", "hello", "hello"} {
			_, err := s.Send(ctx, sid(n), text, func(in *flow.AdmitIn) {
				if n == 2 {
					in.Caller = task.User("user-2")
				}
			})
			must(t, err, s.Drain(ctx))
			time.Sleep(time.Second)
		}
		must(t, table.Commit(ctx, store.LeavePlace(lent(1))))
		ended := make(chan error)
		go func() { ended <- s.Engine.Do(ctx, sid(0)) }()
		time.Sleep(time.Minute)
		must(t, table.Commit(ctx, store.LeavePlace(lent(2))), s.Engine.Do(ctx, sid(1)), s.Drain(ctx))
		var done []int
		for n := range 3 {
			done = append(done, len(told(t, s, sid(n), "turn.completed")))
		}
		if diff := cmp.Diff([]int{0, 0, 1}, done); diff != "" {
			t.Errorf("answered while the first runs (-want +got):\n%s", diff)
		}
		must(t, <-ended, s.Drain(ctx), s.Check(sid(0), sid(1), sid(2)), vacant(s))
	})
}

// full is a stage with one place, which somebody else's turn has.
func full(t *testing.T, s *stage.Stage) (place session.Place) {
	t.Helper()
	s.Engine.Capacity = turn.Capacity{Stack: 1}
	place = session.Place{Scope: "stack", Number: 1}.Lent("another", session.Me{Owner: "another's", Fence: 1}, s.Clock.Now().Add(time.Hour))
	must(t, s.Edges.Table.Commit(t.Context(), s.Edges.Table.TakePlace(place)))
	return place
}

func TestWhatNeedsNoPlace(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(p *stage.Play) act
		want []string
	}{
		{"a stop of what waits", func(p *stage.Play) act { return stop(p, id, false) },
			[]string{"turn.queued", "message.received", "turn.failed"}},
		{"a stop, and a message after it", func(p *stage.Play) act {
			return func(ctx context.Context) error {
				if err := stop(p, id, true)(ctx); err != nil {
					return err
				}
				return send(p, id, "after all", contract.Preempt)(ctx)
			}
		}, []string{"turn.queued", "message.received", "turn.failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				full(t, s)
				p := &stage.Play{Stage: s}
				must(t, send(p, id, "hello", contract.Preempt)(ctx), s.Drain(ctx), tt.do(p)(ctx), s.Drain(ctx))
				events, err := s.Events(ctx, id)
				must(t, err)
				var got []string
				for _, e := range events[1:] {
					got = append(got, e.Type)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if n := len(s.Model.Requests()); n != 0 {
					t.Errorf("%d calls of the model, and no place", n)
				}
			})
		})
	}
}

// TestWhoLeavesTheLineWakesTheNext: the place is vacant, and the first in line has nothing to do any more.
func TestWhoLeavesTheLineWakesTheNext(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(p *stage.Play) act
	}{
		{"stopped", func(p *stage.Play) act { return stop(p, sid(1), true) }},
		{"deleted", func(p *stage.Play) act { return remove(p, sid(1)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				p := &stage.Play{Stage: s}
				place := full(t, s)
				must(t, send(p, sid(1), "hello", contract.Preempt)(ctx), s.Drain(ctx), send(p, sid(2), "hello", contract.Preempt)(ctx), s.Drain(ctx))
				must(t, s.Edges.Table.Commit(ctx, store.LeavePlace(place)), tt.do(p)(ctx), s.Drain(ctx), s.Check(sid(2)))
				if got := told(t, s, sid(2), "turn.completed"); len(got) != 1 {
					t.Errorf("who is behind it was not woken: %v", got)
				}
			})
		})
	}
}

// TestAPlaceLeftInTheLastMoment: it is left after it was seen taken, and before anybody can see who waits for it.
func TestAPlaceLeftInTheLastMoment(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		place := full(t, s)
		_, err := s.Send(ctx, id, "hello")
		must(t, err)
		s.Watch.Before = func(call string) {
			if call == "TransactWriteItems" {
				s.Watch.Before = nil
				must(t, s.Edges.Table.Commit(ctx, store.LeavePlace(place)))
			}
		}
		must(t, s.Drain(ctx), s.Check(id))
		if got := told(t, s, id, "turn.queued", "turn.completed"); len(got) != 2 {
			t.Errorf("it waits for nobody: %v", got)
		}
	})
}

func TestADeletedSessionDoesNotWait(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		p := &stage.Play{Stage: s}
		place := full(t, s)
		must(t, send(p, sid(1), "hello", contract.Preempt)(ctx), s.Drain(ctx), send(p, sid(2), "hello", contract.Preempt)(ctx), s.Drain(ctx))
		must(t, remove(p, sid(1))(ctx), s.Edges.Table.Commit(ctx, store.LeavePlace(place)), s.Rest(ctx, sid(2)), s.Check(sid(2)))
		if got := told(t, s, sid(2), "turn.completed"); len(got) != 1 {
			t.Errorf("who is behind it: %v", got)
		}
		for _, row := range s.Dynamo.Items("SLOT#") {
			t.Errorf("left: %v", row[key.SK])
		}
	})
}

func TestAHandOffKeepsThePlace(t *testing.T) {
	bubble(t, func(req model.Request) fake.Turn { return helpful(req).Pausing(500 * time.Millisecond) }, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Capacity, s.Timeout = turn.Capacity{Stack: 1}, 10*time.Second
		_, err := s.Send(ctx, sid(1), "use the tools")
		must(t, err)
		s.During = func() {
			s.During = nil
			_, err := s.Send(ctx, sid(2), "hello")
			must(t, err)
		}
		must(t, s.Drain(ctx), s.Rest(ctx, sid(2)), s.Check(sid(1), sid(2)))
		if n := s.State(sid(1)).Fence; n < 2 {
			t.Errorf("%d invocations, want a hand-off", n)
		}
		var order []string
		for _, r := range s.Model.Requests() {
			order = append(order, r.Messages[0].PlainText())
		}
		if got := strings.Join(order, ", "); !strings.HasSuffix(got, "use the tools, hello") || strings.Count(got, "hello") != 1 {
			t.Errorf("the model was asked: %s", got)
		}
		if got := told(t, s, sid(1), "turn.queued"); len(got) != 0 {
			t.Errorf("the turn that was handed on waited: %v", got)
		}
	})
}

// TestAPlaceThatWasLost: an owner whose place was lent to another turn, because its lease could not be renewed, stops and waits.
func TestAPlaceThatWasLost(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Capacity = turn.Capacity{Stack: 1}
		var lent atomic.Bool // the tools of a step run side by side
		s.Acting = func(tc tool.Context) {
			if tc.ToolUseID != "call_11" || lent.Swap(true) {
				return
			}
			other := session.Place{Scope: "stack", Number: 1}.Lent("another", session.Me{Owner: "another's", Fence: 1}, s.Clock.Now())
			must(t, s.Edges.Table.Commit(ctx, dropPlace(t, s)), s.Edges.Table.Commit(ctx, s.Edges.Table.TakePlace(other)))
			takes(tc, time.Minute)
		}
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Drain(ctx))
		st := s.State(id)
		if st.Owner != "" || !st.Queued || st.Phase != session.Open {
			t.Fatalf("it does not wait: %+v", st)
		}
		must(t, s.Rest(ctx, id), s.Check(id))
		if got := s.Ran.Runs(); got != "look_up a: 1\nwrite_down b: 1" && got != "look_up a: 1\nwrite_down b: 2" {
			t.Errorf("tools ran: %s", got)
		}
		if got := told(t, s, id, "turn.queued", "turn.completed"); len(got) != 2 {
			t.Errorf("the log: %v", got)
		}
	})
}

// dropPlace is the removal of the only place.
func dropPlace(t *testing.T, s *stage.Stage) store.Write {
	t.Helper()
	l, err := s.Edges.Table.Line(t.Context(), "stack")
	must(t, err)
	return store.LeavePlace(l.Places[0])
}
