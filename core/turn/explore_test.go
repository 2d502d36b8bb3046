package turn_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

type act = func(ctx context.Context) error

// play makes a stage whose model lets the next act of Mid happen while it answers, which takes a second or two.
func play(answer func(model.Request) fake.Turn) *stage.Play {
	p := &stage.Play{}
	p.Stage = stage.New(&fake.Model{Answer: func(req model.Request) fake.Turn {
		if len(p.Mid) > 0 {
			return answer(req).Pausing(400 * time.Millisecond)
		}
		return answer(req)
	}})
	p.During = p.Midst
	return p
}

func send(p *stage.Play, sessionID, text string, admission contract.Admission) act {
	return func(ctx context.Context) error {
		_, err := p.Send(ctx, sessionID, text, as(admission, "dlv_"+text))
		return err
	}
}

func request(taskID, sessionID, text string) task.Request {
	return task.Request{TaskID: taskID, Principal: stage.User, Request: text, SessionID: sessionID, DeliveryID: "dlv_" + taskID, CreatedBy: stage.User.ID}
}

func publish(p *stage.Play, r task.Request) act {
	return func(ctx context.Context) error {
		return p.Edges.Bus.Publish(ctx, bus.Event{DetailType: contract.RunAgentTask, Detail: r})
	}
}

func bind(p *stage.Play, r task.Request) act {
	return func(ctx context.Context) error {
		_, err := flow.BindTask{Edges: p.Edges, MaxDepth: 8}.Do(ctx, flow.BindTaskIn{Request: r, EnvelopeID: "envelope"})
		return err
	}
}

func cancel(p *stage.Play, taskID string) act {
	return func(ctx context.Context) error {
		_, err := flow.CancelTask{Edges: p.Edges}.Do(ctx, flow.TaskOf{TaskID: taskID, Caller: stage.User.ID})
		return unless(err, fault.Conflict) // it was over already
	}
}

func stop(p *stage.Play, sessionID string, clear bool) act {
	return func(ctx context.Context) error {
		_, err := flow.Stop{Edges: p.Edges}.Do(ctx, flow.StopIn{SessionID: sessionID, Caller: stage.User, Clear: clear})
		return err
	}
}

func remove(p *stage.Play, sessionID string) act {
	return func(ctx context.Context) error {
		_, err := flow.DeleteSession{Edges: p.Edges}.Do(ctx, flow.SessionOf{SessionID: sessionID, Caller: stage.User})
		return err
	}
}

func rest(p *stage.Play, sessionID string) act {
	return func(ctx context.Context) error { return p.Rest(ctx, sessionID) }
}

// unless forgives one kind of fault.
func unless(err error, code fault.Code) error {
	if fault.Is(err, code) {
		return nil
	}
	return err
}

// tasks tells what the tasks came to.
func tasks(p *stage.Play, ids ...string) string {
	all := ""
	for _, id := range ids {
		t, err := p.Edges.Table.TaskOrNone(context.Background(), id)
		all += fmt.Sprintf("task %s: %s %q %q cancelled %t, attempt %d, %v\n", id, t.Status, t.Output, t.Error, t.Cancelled, t.Attempt, err)
	}
	return all
}

// story is the end of a run that must be the same wherever it was cut off.
func story(p *stage.Play, sessionID string, taskIDs ...string) func() string {
	return func() string { return p.Story(sessionID) + tasks(p, taskIDs...) }
}

// ran is the check that each tool ran once, or once more where a worker died before its result was saved.
func ran(p *stage.Play, sessionIDs ...string) func() error {
	return func() error {
		for _, tool := range []string{"look_up a", "write_down b"} {
			if n := p.Ran.Of(tool[:len(tool)-2], tool[len(tool)-1:]); n < 1 || n > 2 {
				return fmt.Errorf("%s ran %d times", tool, n)
			}
		}
		return p.Check(sessionIDs...)
	}
}

func check(p *stage.Play, sessionIDs ...string) func() error {
	return func() error { return p.Check(sessionIDs...) }
}

// TestWhereverItIsCutOff disturbs each flow at every call it makes: the worker dies before it, dies after it, or loses its
// answer. Redelivery and sweep must bring it to its end.
func TestWhereverItIsCutOff(t *testing.T) {
	taskSession := "task-t1"
	flows := []struct {
		name string
		new  func() *fake.Run
	}{
		{"a chat turn with two tools, and another", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt), rest(p, id), send(p, id, "hello", contract.Preempt)}
			return p.Run(story(p, id), ran(p, id))
		}},
		{"a task of its own", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{publish(p, request("t1", "", "use the tools"))}
			return p.Run(story(p, taskSession, "t1"), ran(p, taskSession))
		}},
		{"a task in a session with a message before it", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{send(p, id, "hello", contract.Coalesce), bind(p, request("t1", id, "use the tools")), send(p, id, "bye", contract.Coalesce)}
			return p.Run(story(p, id, "t1"), ran(p, id))
		}},
		{"the same task delivered three times", func() *fake.Run {
			p := play(helpful)
			p.Bus.Duplicate = func(e fake.Event) int { return map[string]int{contract.RunAgentTask: 1}[e.DetailType] }
			p.Acts = []act{publish(p, request("t1", "", "use the tools")), rest(p, taskSession), publish(p, request("t1", "", "use the tools"))}
			return p.Run(story(p, taskSession, "t1"), ran(p, taskSession))
		}},
		{"a completion that the bus does not take for three minutes", func() *fake.Run {
			p := play(helpful)
			p.Bus.FailEntry = func(e fake.Event) string {
				if e.DetailType == contract.AgentTaskCompleted && p.Clock.Now().Before(fake.Start().Add(3*time.Minute)) {
					return "InternalFailure"
				}
				return ""
			}
			p.Acts = []act{publish(p, request("t1", "", "hello"))}
			return p.Run(story(p, taskSession, "t1"), check(p, taskSession))
		}},
		{"a turn that is handed on", func() *fake.Run {
			p := play(func(req model.Request) fake.Turn { return helpful(req).Pausing(500 * time.Millisecond) })
			p.Timeout, p.Engine.HandOff = 10*time.Second, 3*time.Second
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			return p.Run(story(p, id), ran(p, id))
		}},
		{"a turn that is handed on while a tool runs", func() *fake.Run {
			p := play(helpful)
			cutTools(p.Stage, 4*time.Second)
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			return p.Run(nil, ran(p, id))
		}},
		{"a task that is created by a caller", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{func(ctx context.Context) error {
				_, err := flow.CreateTask{Edges: p.Edges}.Do(ctx, flow.CreateTaskIn{Caller: stage.User.ID, Request: "hello"})
				return err
			}}
			return p.Run(nil, check(p))
		}},
		{"a session deleted in the middle of a turn", func() *fake.Run {
			p := play(helpful)
			p.Round = 9 * time.Minute
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			p.Mid = []act{remove(p, id)}
			return p.Run(nil, check(p, id))
		}},
		{"a session deleted under a task and with one that waits", func() *fake.Run {
			p := play(helpful)
			p.Round = 9 * time.Minute
			p.Acts = []act{bind(p, request("t1", id, "use the tools")), bind(p, request("t2", id, "hello"))}
			p.Mid = []act{remove(p, id)}
			return p.Run(nil, check(p, id))
		}},
		{"a cancel that meets the end", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{publish(p, request("t1", "", "hello"))}
			p.Mid = []act{cancel(p, "t1")}
			return p.Run(nil, check(p, taskSession))
		}},
		{"a cancel in a session that goes on", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{bind(p, request("t1", id, "use the tools")), send(p, id, "bye", contract.Coalesce)}
			p.Mid = []act{cancel(p, "t1")}
			return p.Run(nil, check(p, id))
		}},
		{"a preempting message in the middle", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			p.Mid = []act{send(p, id, "wait", contract.Preempt)}
			return p.Run(nil, check(p, id))
		}},
		{"a message that joins at the boundary", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			p.Mid = []act{send(p, id, "quickly", contract.Coalesce), send(p, id, "please", contract.Coalesce)}
			return p.Run(nil, ran(p, id))
		}},
		{"a message that wants an idle session", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			p.Mid = []act{func(ctx context.Context) error {
				return unless(send(p, id, "if idle", contract.Reject)(ctx), fault.Conflict)
			}}
			return p.Run(nil, ran(p, id))
		}},
		{"a stop in the middle", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt), send(p, id, "then this", contract.Coalesce)}
			p.Mid = []act{stop(p, id, false)}
			return p.Run(nil, check(p, id))
		}},
		{"a stop that clears what waits, a task too", func() *fake.Run {
			p := play(helpful)
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt), bind(p, request("t1", id, "hello")), send(p, id, "then this", contract.Coalesce)}
			p.Mid = []act{stop(p, id, true), send(p, id, "after all", contract.Preempt)}
			return p.Run(nil, check(p, id))
		}},
	}
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) { fake.Explore(t, fake.Flow{Name: f.name, New: f.new}) })
	}
}
