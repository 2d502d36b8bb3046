package turn_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// worker is one invocation with a memory of its own.
func worker(p *stage.Play, sessionID string) act {
	e := *p.Engine
	e.Remembered = &turn.Memory{}
	return func(ctx context.Context) error { return e.Do(ctx, sessionID) }
}

func sweep(p *stage.Play) act {
	return func(ctx context.Context) error { _, err := p.Sweep(ctx); return err }
}

func create(p *stage.Play, sessionID string) act {
	return func(ctx context.Context) error {
		_, err := flow.CreateSession{Edges: p.Edges}.Do(ctx, flow.CreateSessionIn{
			Config: session.Config{SessionID: sessionID, UserID: stage.User.ID, SystemPrompt: "Be brief."}, CreatedBy: "call-1",
		})
		return err
	}
}

// before does what has happened when the workers meet.
func before(p *stage.Play, acts ...act) {
	for _, a := range acts {
		if err := a(context.Background()); err != nil {
			panic(err)
		}
	}
}

func meeting(p *stage.Play, end func() string, check func() error, workers ...act) *fake.Meeting {
	return &fake.Meeting{World: p.World, Workers: workers, Recover: p.Stage.Recover, End: end, Check: check}
}

// TestWhoeverMeets steps two or three workers through their calls against one table, in many orders.
func TestWhoeverMeets(t *testing.T) {
	taskSession := "task-t1"
	lease := session.Lease + session.Margin + time.Second
	cases := []struct {
		name string
		kill bool
		slow time.Duration
		new  func() *fake.Meeting
	}{
		{"two workers and one message", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			return meeting(p, story(p, id), func() error { return once(p, id) }, worker(p, id), worker(p, id))
		}},
		{"two workers, one may die", true, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			return meeting(p, story(p, id), ran(p, id), worker(p, id), worker(p, id))
		}},
		{"two workers, one is slow", false, lease, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			return meeting(p, story(p, id), ran(p, id), worker(p, id), worker(p, id))
		}},
		{"two workers and two messages", false, lease, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt), send(p, id, "and hurry", contract.Preempt))
			return meeting(p, story(p, id), check(p, id), worker(p, id), worker(p, id))
		}},
		{"three workers", true, lease, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			return meeting(p, story(p, id), check(p, id), worker(p, id), worker(p, id), worker(p, id))
		}},
		{"a preempting sender and a worker", true, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			return meeting(p, nil, check(p, id), worker(p, id), send(p, id, "wait", contract.Preempt))
		}},
		{"a coalescing sender, another, and a worker", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			return meeting(p, nil, check(p, id), worker(p, id), send(p, id, "quickly", contract.Coalesce), send(p, id, "please", contract.Coalesce))
		}},
		{"a sender who wants an idle session, and a worker", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "hello", contract.Preempt))
			return meeting(p, nil, check(p, id), worker(p, id), send(p, id, "if idle", contract.Reject))
		}},
		{"the same send twice, and a worker", false, 0, func() *fake.Meeting {
			p := play(helpful)
			return meeting(p, nil, check(p, id), send(p, id, "hello", contract.Preempt), send(p, id, "hello", contract.Preempt), worker(p, id))
		}},
		{"two senders with one token", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, create(p, id))
			token, accepted := p.State(id).Token, 0
			sender := func(n int) act {
				return func(ctx context.Context) error {
					_, err := p.Send(ctx, id, "hello", func(in *flow.AdmitIn) { in.DeliveryID, in.Token = fmt.Sprint("dlv_", n), &token })
					if err == nil {
						accepted++
					}
					return err
				}
			}
			return meeting(p, nil, func() error {
				if n := p.State(id).Admitted; n != 1 || accepted != 1 {
					return fmt.Errorf("%d messages, %d receipts for one token", n, accepted)
				}
				return p.Check(id)
			}, sender(1), sender(2))
		}},
		{"a stop and a worker", true, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt), send(p, id, "then this", contract.Coalesce))
			return meeting(p, nil, check(p, id), worker(p, id), stop(p, id, false))
		}},
		{"a clearing stop, a sender and a worker", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			return meeting(p, nil, check(p, id), worker(p, id), stop(p, id, true), send(p, id, "after all", contract.Preempt))
		}},
		{"a stop, a coalescing sender and a worker", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			return meeting(p, nil, check(p, id), worker(p, id), stop(p, id, false), send(p, id, "then this", contract.Coalesce))
		}},
		{"a stop of what waits, a sender and a worker", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "hello", contract.Preempt))
			return meeting(p, nil, check(p, id), stop(p, id, false), send(p, id, "bye", contract.Coalesce), worker(p, id))
		}},
		{"a cancel and the end", true, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, bind(p, request("t1", "", "hello")))
			return meeting(p, nil, check(p, taskSession), worker(p, taskSession), cancel(p, "t1"))
		}},
		{"a cancel and a turn of a session that goes on", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, bind(p, request("t1", id, "hello")), send(p, id, "bye", contract.Coalesce))
			return meeting(p, nil, check(p, id), worker(p, id), cancel(p, "t1"))
		}},
		{"a cancel and a binder", true, 0, func() *fake.Meeting {
			p := play(helpful)
			_, err := p.Edges.Table.CreateTask(context.Background(), request("t1", "", "hello"))
			before(p, func(context.Context) error { return err })
			sessions := func() error {
				if p.State(taskSession).SessionID == "" {
					return p.Check()
				}
				return p.Check(taskSession)
			}
			return meeting(p, nil, sessions, bind(p, request("t1", "", "hello")), cancel(p, "t1"))
		}},
		{"two binders of one task", true, 0, func() *fake.Meeting {
			p := play(helpful)
			return meeting(p, story(p, taskSession, "t1"), check(p, taskSession), again(bind(p, request("t1", "", "hello"))), bind(p, request("t1", "", "hello")))
		}},
		{"two binders of one task in a session, and its worker", false, 0, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "hello", contract.Preempt))
			return meeting(p, nil, check(p, id), bind(p, request("t1", id, "bye")), bind(p, request("t1", id, "bye")), worker(p, id))
		}},
		{"create and a first message", false, 0, func() *fake.Meeting {
			p := play(helpful)
			return meeting(p, story(p, id), check(p, id), create(p, id), send(p, id, "hello", contract.Preempt))
		}},
		{"two first messages of two users", false, 0, func() *fake.Meeting {
			p := play(helpful)
			other := func(ctx context.Context) error {
				_, err := p.Send(ctx, id, "mine", func(in *flow.AdmitIn) { in.Caller.ID = "user-2" })
				return unless(err, fault.Denied)
			}
			return meeting(p, story(p, id), check(p, id), other, send(p, id, "hello", contract.Preempt))
		}},
		{"a deletion and a worker", true, 0, func() *fake.Meeting {
			p := play(helpful)
			p.Round = 9 * time.Minute
			before(p, bind(p, request("t1", id, "use the tools")), bind(p, request("t2", id, "hello")))
			return meeting(p, nil, check(p, id), worker(p, id), remove(p, id))
		}},
		{"a deletion and a sender", false, 0, func() *fake.Meeting {
			p := play(helpful)
			p.Round = 9 * time.Minute
			before(p, send(p, id, "hello", contract.Preempt))
			return meeting(p, nil, check(p, id), again(remove(p, id)), func(ctx context.Context) error {
				return unless(send(p, id, "bye", contract.Preempt)(ctx), fault.NotFound)
			})
		}},
		{"the sweep and a worker", false, lease, func() *fake.Meeting {
			p := play(helpful)
			before(p, send(p, id, "use the tools", contract.Preempt))
			p.Clock.Advance(2 * time.Minute)
			return meeting(p, story(p, id), ran(p, id), worker(p, id), sweep(p))
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := fake.Steps{Name: c.name, New: c.new, Kill: c.kill, Slow: c.slow, Cap: 60, Random: 40}
			if soak {
				s.Preemptions, s.Cap, s.Random = 3, 4_000, 2_000
			}
			fake.ExploreSteps(t, s)
		})
	}
}

// again does an act once more if it failed.
func again(a act) act {
	return func(ctx context.Context) error {
		if err := a(ctx); err == nil {
			return nil
		}
		return a(ctx)
	}
}

// once is the check that each tool ran exactly once.
func once(p *stage.Play, sessionIDs ...string) error {
	if got := p.Ran.Runs(); got != "look_up a: 1\nwrite_down b: 1" {
		return fault.New(fault.Internal, "tools ran: %s", got)
	}
	return p.Check(sessionIDs...)
}
