package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// calls runs a tool without a model.
func calls(p *stage.Play, name, input string) (contract.ActionResult, error) {
	return p.Engine.Call(context.Background(), turn.CallIn{SessionID: id, Caller: stage.User, Name: name, Input: json.RawMessage(input)})
}

func calling(p *stage.Play, name, input string) act {
	return func(ctx context.Context) error {
		_, err := p.Engine.Call(ctx, turn.CallIn{SessionID: id, Caller: stage.User, Name: name, Input: json.RawMessage(input)})
		return err
	}
}

// resting is a world whose session has had a turn.
func resting(t *testing.T, ctx context.Context) *stage.Play {
	t.Helper()
	p := play(func(model.Request) fake.Turn { return fake.Say("Fine.") })
	noError(t, send(p, id, "hello", contract.Preempt)(ctx), p.Drain(ctx))
	return p
}

func TestCall(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := resting(t, ctx)
		before, asked := p.State(id), len(p.Model.Requests())
		done, err := calls(p, "write_down", `{"text":"a"}`)
		if noError(t, err); done.Status != "success" || string(done.Output) != `"write_down did a"` || done.Name != "write_down" || done.ID == "" {
			t.Errorf("Call = %+v", done)
		}
		wrong, err := calls(p, "write_down", `{"text":5,"other":1}`)
		if noError(t, err); wrong.Status != "error" || !strings.Contains(string(wrong.Output), "text") {
			t.Errorf("wrong input: %+v", wrong)
		}
		after := p.State(id)
		if after.Owner != "" || after.DueSK != "" || after.Phase != session.Idle || after.Tip != before.Tip || after.TurnSeq != before.TurnSeq {
			t.Errorf("it leaves %+v", after)
		}
		if p.Ran.Runs() != "write_down a: 1" || len(p.Model.Requests()) != asked {
			t.Errorf("what ran: %s; the model was asked %d times more", p.Ran.Runs(), len(p.Model.Requests())-asked)
		}
		events, err := p.Events(ctx, id)
		noError(t, err, p.Check(id))
		var told []string
		for _, e := range events[before.NextIndex:] {
			told = append(told, e.Type+e.TurnID)
		}
		one := []string{"actions.requested", "action.result", "actions.completed"}
		if diff := cmp.Diff(append(one, one...), told); diff != "" {
			t.Errorf("the log (-want +got):\n%s", diff)
		}
		noError(t, send(p, id, "and now?", contract.Preempt)(ctx), p.Rest(ctx, id), p.Check(id))
	})
}

func TestCallsThatAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := resting(t, ctx)
		p.Engine.Tools = tool.Registry{p.Engine.Tools[0], tool.RequireApproval(p.Engine.Tools[1])}
		before := p.State(id)
		tests := []struct {
			name   string
			in     turn.CallIn
			code   fault.Code
			reason string
		}{
			{"somebody else's session", turn.CallIn{SessionID: id, Caller: task.User("user-2"), Name: "look_up"}, fault.Denied, ""},
			{"no session", turn.CallIn{SessionID: "nobody", Caller: stage.User, Name: "look_up"}, fault.NotFound, ""},
			{"no id", turn.CallIn{Caller: stage.User, Name: "look_up"}, fault.Invalid, ""},
			{"no tool", turn.CallIn{SessionID: id, Caller: stage.User, Name: "dance"}, fault.NotFound, ""},
			{"no object", turn.CallIn{SessionID: id, Caller: stage.User, Name: "look_up", Input: json.RawMessage(`[1]`)}, fault.Invalid, ""},
			{"one that a person has to approve", turn.CallIn{SessionID: id, Caller: stage.User, Name: "write_down"}, fault.Denied, "approval_required"},
		}
		for _, tt := range tests {
			if _, err := p.Engine.Call(ctx, tt.in); fault.CodeOf(err) != tt.code || fault.ReasonOf(err) != tt.reason {
				t.Errorf("%s: %v, want %q %q", tt.name, err, tt.code, tt.reason)
			}
		}
		if s := p.State(id); s.Owner != "" || s.NextIndex != before.NextIndex || p.Ran.Runs() != "" {
			t.Errorf("what was refused leaves %+v and ran %q", s, p.Ran.Runs())
		}
	})
}

// TestCallsOfABusySession: while a turn runs, waits to run, or waits for a person, and while another call runs.
func TestCallsOfABusySession(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := parking(1)
		busy := func(when string) {
			t.Helper()
			if _, err := calls(p, "look_up", `{"text":"x"}`); fault.ReasonOf(err) != "session_busy" || !fault.Is(err, fault.Conflict) {
				t.Errorf("%s: %v, want session_busy", when, err)
			}
		}
		p.During = func() { busy("in mid-answer") }
		noError(t, send(p, id, "use the tools", contract.Preempt)(ctx))
		busy("before the turn")
		noError(t, p.Drain(ctx))
		busy("while a person thinks")
		noError(t, decide(p, callID(t, p, "write_down")[0], contract.Deny, stage.User)(ctx), p.Rest(ctx, id))
		p.Acting = func(tool.Context) { busy("during another call") }
		_, err := calls(p, "look_up", `{"text":"y"}`)
		noError(t, err, p.Check(id))
		if n := p.Ran.Of("look_up", "x"); n != 0 {
			t.Errorf("a refused call ran %d times", n)
		}
	})
}

// TestAMessageDuringACall is answered after it.
func TestAMessageDuringACall(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := resting(t, ctx)
		p.Acting = func(tool.Context) { noError(t, send(p, id, "meanwhile", contract.Preempt)(ctx), p.Drain(ctx)) }
		done, err := calls(p, "look_up", `{"text":"y"}`)
		if noError(t, err); done.Status != "success" {
			t.Errorf("Call = %+v", done)
		}
		if s := p.State(id); s.Owner != "" || s.Pending() != 1 || s.DueSK == "" {
			t.Errorf("it leaves %+v", s)
		}
		noError(t, p.Drain(ctx), p.Check(id))
		if s := p.State(id); s.Pending() != 0 || s.Phase != session.Idle {
			t.Errorf("the message is left: %+v", s)
		}
	})
}

// TestExploreCalls: whoever dies, wherever: the log is whole, the session rests, and every message is answered.
func TestExploreCalls(t *testing.T) {
	flows := []struct {
		name string
		acts func(p *stage.Play) []act
	}{
		{"a call", func(p *stage.Play) []act { return []act{settled(calling(p, "write_down", `{"text":"a"}`))} }},
		{"a message in mid-call", func(p *stage.Play) []act {
			first := true
			p.Acting = func(tool.Context) {
				if first {
					first = false
					p.Midst()
				}
			}
			p.Mid = []func(context.Context) error{send(p, id, "meanwhile", contract.Coalesce)}
			return []act{settled(calling(p, "write_down", `{"text":"a"}`))}
		}},
		{"deleted in mid-call", func(p *stage.Play) []act {
			first := true
			p.Acting = func(tool.Context) {
				if first {
					first = false
					p.Midst()
				}
			}
			p.Mid = []func(context.Context) error{func(ctx context.Context) error {
				_, err := flow.DeleteSession{Edges: p.Edges}.Do(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
				return settled(func(context.Context) error { return err })(ctx)
			}}
			return []act{func(ctx context.Context) error {
				_ = calling(p, "write_down", `{"text":"a"}`)(ctx)
				return nil
			}}
		}},
	}
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			fake.Explore(t, fake.Flow{Name: f.name, Pairs: 10, Seed: 6, New: func() *fake.Run {
				p := play(func(model.Request) fake.Turn { return fake.Say("Fine.") })
				p.Acts = append([]act{send(p, id, "hello", contract.Preempt), p.Drain}, f.acts(p)...)
				check := func() error { return callsAreWhole(p) }
				if strings.HasPrefix(f.name, "deleted") {
					check = func() error { return nil }
				}
				return p.Run(nil, check)
			}})
		})
	}
}

// callsAreWhole is the check that the session rests and that what the log has of calls is whole.
func callsAreWhole(p *stage.Play) error {
	if s := p.State(id); s.Phase != session.Idle || s.Owner != "" || s.Pending() != 0 {
		return fmt.Errorf("the session is left as %+v", s)
	}
	events, err := p.Events(context.Background(), id)
	if err != nil {
		return err
	}
	open := 0
	for _, e := range events {
		switch e.Type {
		case "actions.requested":
			open++
		case "actions.completed":
			open--
		}
	}
	if open != 0 {
		return fmt.Errorf("%d calls have no end in the log", open)
	}
	return p.Check(id)
}

// TestWhoeverCalls steps calls, messages and workers against one session at rest.
func TestWhoeverCalls(t *testing.T) {
	call := func(p *stage.Play, text string) act {
		return settled(calling(p, "write_down", fmt.Sprintf(`{"text":%q}`, text)))
	}
	cases := []struct {
		name    string
		workers func(p *stage.Play) []act
	}{
		{"two calls at once", func(p *stage.Play) []act { return []act{call(p, "a"), call(p, "b")} }},
		{"a call and a message", func(p *stage.Play) []act {
			return []act{call(p, "a"), send(p, id, "meanwhile", contract.Preempt), worker(p, id)}
		}},
		{"a call and a stop of all", func(p *stage.Play) []act {
			return []act{call(p, "a"), send(p, id, "meanwhile", contract.Coalesce), func(ctx context.Context) error {
				_, err := flow.Stop{Edges: p.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User, Clear: true})
				return err
			}}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fake.ExploreSteps(t, fake.Steps{Name: c.name, Kill: true, Cap: 60, Random: 40, New: func() *fake.Meeting {
				p := play(func(model.Request) fake.Turn { return fake.Say("Fine.") })
				before(p, send(p, id, "hello", contract.Preempt), p.Drain)
				return meeting(p, nil, func() error { return callsAreWhole(p) }, c.workers(p)...)
			}})
		})
	}
}

// TestExploreCallsOfAChannel: the channel is told of a call as of anything else in the log, whoever dies.
func TestExploreCallsOfAChannel(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a call, told to its channel", Pairs: 10, Seed: 8, New: func() *fake.Run {
		p, told := play(func(model.Request) fake.Turn { return fake.Say("Fine.") }), heard{}
		p.Heard = func(_ context.Context, e contract.AgentSessionEvent) error { return told.note(e) }
		p.Acts = []act{hook(p, "hello", "d-1"), p.Drain, settled(func(ctx context.Context) error {
			_, err := p.Engine.Call(ctx, turn.CallIn{SessionID: channelled(p), Caller: stage.User, Name: "write_down", Input: json.RawMessage(`{"text":"a"}`)})
			return err
		})}
		return p.Run(nil, func() error { return told.complete(p) })
	}})
}
