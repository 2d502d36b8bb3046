package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// parking is a world whose tool write_down needs a person, and whose model calls it n times at once beside look_up.
func parking(n int) *stage.Play {
	p := play(func(req model.Request) fake.Turn {
		if len(req.Messages[len(req.Messages)-1].Results()) > 0 {
			return fake.Say("All ", "done.")
		}
		if strings.Contains(req.Messages[len(req.Messages)-1].PlainText(), "wait") {
			return fake.Say("Waiting.")
		}
		uses := []model.ToolUse{{ID: "look", Name: "look_up", Input: json.RawMessage(`{"text":"a"}`)}}
		for i := range n {
			uses = append(uses, model.ToolUse{ID: fmt.Sprint("w", i), Name: "write_down", Input: json.RawMessage(fmt.Sprintf(`{"text":"b%d"}`, i))})
		}
		return fake.Calls("Let me see. ", uses...)
	})
	p.Engine.Tools = tool.Registry{p.Engine.Tools[0], tool.RequireApproval(p.Engine.Tools[1])}
	return p
}

// decide says what a person does about a call that was asked about; it waits for it to be asked.
func decide(p *stage.Play, action string, v contract.Verdict, by contract.Principal) act {
	return func(ctx context.Context) error {
		_, err := flow.Approvals{Edges: p.Edges}.Decide(ctx, flow.DecideIn{SessionID: id, ActionID: action, Caller: by, Verdict: v})
		return err
	}
}

// settled is decide by who may be too late.
func settled(a act) act {
	return func(ctx context.Context) error {
		if err := a(ctx); !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			return err
		}
		return nil
	}
}

// callID is the id that a run gives to a call of the model: the one in the log.
func callID(t *testing.T, p *stage.Play, name string) (ids []string) {
	t.Helper()
	events, err := p.Events(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		var d contract.ApprovalRequested
		if e.Type == d.EventType() && json.Unmarshal(e.Data, &d) == nil && d.Name == name {
			ids = append(ids, d.ActionID)
		}
	}
	return ids
}

// approvals tells what the log says of them, and of the end of the turn.
func approvals(p *stage.Play) string {
	events, err := p.Events(context.Background(), id)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, e := range events {
		var d struct{ ActionID, Decision, By, Status string }
		_ = json.Unmarshal(e.Data, &d)
		switch e.Type {
		case "action.approval_requested":
			all = append(all, "asked")
		case "action.approval_resolved":
			all = append(all, d.Decision+" by "+d.By)
		case "turn.completed", "turn.failed":
			all = append(all, strings.TrimSpace(e.Type+" "+d.Status))
		}
	}
	return strings.Join(all, ", ")
}

func inBubble(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, t.Context()) })
}

func noError(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestApprovals(t *testing.T) {
	type world struct {
		*stage.Play
		ids []string
	}
	tests := []struct {
		name  string
		calls int
		do    func(ctx context.Context, w world) error
		want  string
		runs  string
		told  string // what the model reads of the first call
	}{
		{"approved", 1, func(ctx context.Context, w world) error {
			return decide(w.Play, w.ids[0], contract.Approve, stage.User)(ctx)
		}, "asked, approved by user-1, turn.completed", "look_up a: 1\nwrite_down b0: 1", ""},
		{"denied", 1, func(ctx context.Context, w world) error {
			return decide(w.Play, w.ids[0], contract.Deny, stage.User)(ctx)
		}, "asked, denied by user-1, turn.completed", "look_up a: 1", "The call was denied. It was not run."},
		{"nobody decides", 1, func(ctx context.Context, w world) error {
			w.Clock.Advance(session.ApprovalLife + time.Minute)
			return w.Recover(ctx)
		}, "asked, expired by , turn.completed", "look_up a: 1", "Nobody decided about the call in time. It was not run."},
		{"two in the other order", 2, func(ctx context.Context, w world) error {
			if err := decide(w.Play, w.ids[1], contract.Approve, stage.User)(ctx); err != nil {
				return err
			}
			return decide(w.Play, w.ids[0], contract.Deny, stage.User)(ctx)
		}, "asked, asked, denied by user-1, approved by user-1, turn.completed", "look_up a: 1\nwrite_down b1: 1", "The call was denied. It was not run."},
		{"stopped", 1, func(ctx context.Context, w world) error {
			_, err := flow.Stop{Edges: w.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User})
			return err
		}, "asked, void by , turn.failed cancelled", "look_up a: 1", ""},
		{"one is approved, then it is stopped", 2, func(ctx context.Context, w world) error {
			if err := decide(w.Play, w.ids[1], contract.Approve, stage.User)(ctx); err != nil {
				return err
			}
			_, err := flow.Stop{Edges: w.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User})
			return err
		}, "asked, asked, void by , void by user-1, turn.failed cancelled", "look_up a: 1", ""},
		{"preempted", 1, func(ctx context.Context, w world) error {
			return send(w.Play, id, "wait", contract.Preempt)(ctx)
		}, "asked, void by , turn.failed interrupted, turn.completed", "look_up a: 1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				p := parking(tt.calls)
				noError(t, send(p, id, "use the tools", contract.Preempt)(ctx), p.Drain(ctx))
				if s := p.State(id); s.Status() != "waiting_approval" || s.Owner != "" || s.DueSK == "" {
					t.Fatalf("the session does not wait: %+v", s)
				}
				w := world{p, callID(t, p, "write_down")}
				noError(t, tt.do(ctx, w), p.Rest(ctx, id), p.Check(id))
				if diff := cmp.Diff(tt.want, approvals(p)); diff != "" {
					t.Errorf("the log (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.runs, p.Ran.Runs()); diff != "" {
					t.Errorf("what ran (-want +got):\n%s", diff)
				}
				if last := p.Model.Requests()[len(p.Model.Requests())-1]; tt.told != "" && !strings.Contains(fmt.Sprint(last.Messages[len(last.Messages)-1].Results()), tt.told) {
					t.Errorf("the model was not told %q: %v", tt.told, last.Messages[len(last.Messages)-1].Results())
				}
			})
		})
	}
}

// TestADecisionWhoseAnswerIsLost: it is found to be made, and the turn goes on at once, not with the next sweep.
func TestADecisionWhoseAnswerIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := parking(1)
		noError(t, send(p, id, "use the tools", contract.Preempt)(ctx), p.Drain(ctx))
		p.World.Disturb(fake.Disturbance{Name: "dynamo.TransactWriteItems", Mode: fake.LoseAnswer})
		noError(t, decide(p, callID(t, p, "write_down")[0], contract.Approve, stage.User)(ctx), p.Drain(ctx), p.Check(id))
		if got, want := approvals(p), "asked, approved by user-1, turn.completed"; got != want {
			t.Errorf("the log is %q, want %q", got, want)
		}
	})
}

// TestAParkedTurnCostsNothing: while people think no worker runs, however often the sweep and late triggers come by.
func TestAParkedTurnCostsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := parking(1)
		noError(t, send(p, id, "use the tools", contract.Preempt)(ctx), p.Drain(ctx))
		fence, published := p.State(id).Fence, len(p.Bus.Of(contract.RunAgentTurn))
		for range 23 {
			p.Clock.Advance(time.Hour)
			_, err := p.Sweep(ctx)
			noError(t, err, p.Engine.Do(ctx, id), send(p, id, "and hurry", contract.Coalesce)(ctx), p.Drain(ctx))
		}
		if s := p.State(id); s.Fence != fence || s.Phase != session.Parked {
			t.Errorf("it was claimed %d times while it waited", s.Fence-fence)
		}
		if n := len(p.Bus.Of(contract.RunAgentTurn)) - published; n != 23 { // one for each message
			t.Errorf("it was triggered %d times", n)
		}
	})
}

func TestWhoMayDecide(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := parking(1)
		noError(t, send(p, id, "use the tools", contract.Preempt)(ctx), p.Drain(ctx))
		action := callID(t, p, "write_down")[0]
		tests := []struct {
			name   string
			do     act
			code   fault.Code
			reason string
		}{
			{"somebody else", decide(p, action, contract.Approve, task.User("user-2")), fault.Denied, ""},
			{"about another call", decide(p, "call_0", contract.Approve, stage.User), fault.NotFound, ""},
			{"what?", decide(p, action, "maybe", stage.User), fault.Invalid, ""},
			{"its owner", decide(p, action, contract.Deny, stage.User), "", ""},
			{"its owner, again", decide(p, action, contract.Deny, stage.User), "", ""},
			{"its owner, otherwise", decide(p, action, contract.Approve, stage.User), fault.Conflict, "already_decided"},
		}
		for _, tt := range tests {
			if err := tt.do(ctx); fault.CodeOf(err) != tt.code || fault.ReasonOf(err) != tt.reason {
				t.Errorf("%s: %v, want %q %q", tt.name, err, tt.code, tt.reason)
			}
		}
		list, err := flow.Approvals{Edges: p.Edges}.List(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
		if noError(t, err); len(list.Approvals) != 1 || list.Approvals[0].Status != "denied" || string(list.Approvals[0].Input) != `{"text":"b0"}` {
			t.Errorf("listed: %+v", list)
		}
		if _, err := (flow.Approvals{Edges: p.Edges}).List(ctx, flow.SessionOf{SessionID: id, Caller: task.User("user-2")}); !fault.Is(err, fault.Denied) {
			t.Errorf("listed for somebody else: %v", err)
		}
	})
}

// approvedOnce is the check that no call ran twice, that none ran which was not approved, and that nothing waits.
func approvedOnce(p *stage.Play, may ...string) func() error {
	return func() error {
		for i := range 2 {
			n := p.Ran.Of("write_down", fmt.Sprint("b", i))
			allowed := false
			for _, m := range may {
				allowed = allowed || m == fmt.Sprint("b", i)
			}
			if n > 1 || n == 1 && !allowed {
				return fmt.Errorf("write_down b%d ran %d times, may run: %v", i, n, may)
			}
		}
		if s := p.State(id); s.Phase != session.Idle {
			return fmt.Errorf("the session is %s", s.Phase)
		}
		return p.Check(id)
	}
}

// whenAsked does something about each call once it was asked about.
func whenAsked(p *stage.Play, do ...func(action string) act) act {
	return func(ctx context.Context) error {
		if err := p.Drain(ctx); err != nil {
			return err
		}
		list, err := flow.Approvals{Edges: p.Edges}.List(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
		if err != nil {
			return err
		}
		if len(list.Approvals) < len(do) {
			if err := p.Stage.Recover(ctx); err != nil {
				return err
			}
			return fault.New(fault.Unavailable, "nobody was asked yet")
		}
		for i, d := range do {
			if err := d(list.Approvals[i].ActionID)(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestExploreApprovals: whoever dies, wherever, an approved call runs at most once, no other runs, and the turn comes to its end.
func TestExploreApprovals(t *testing.T) {
	say := func(p *stage.Play, v contract.Verdict) func(string) act {
		return func(action string) act { return settled(decide(p, action, v, stage.User)) }
	}
	flows := []struct {
		name  string
		calls int
		then  func(p *stage.Play) []act
		may   []string
	}{
		{"approve", 1, func(p *stage.Play) []act { return []act{whenAsked(p, say(p, contract.Approve))} }, []string{"b0"}},
		{"deny", 1, func(p *stage.Play) []act { return []act{whenAsked(p, say(p, contract.Deny))} }, nil},
		{"approve one and deny the other", 2, func(p *stage.Play) []act {
			return []act{whenAsked(p, say(p, contract.Approve), say(p, contract.Deny))}
		}, []string{"b0"}},
		{"expire", 1, func(p *stage.Play) []act {
			return []act{whenAsked(p), func(context.Context) error { p.Clock.Advance(session.ApprovalLife + time.Minute); return nil }}
		}, nil},
		{"stop while parked", 1, func(p *stage.Play) []act {
			return []act{whenAsked(p), func(ctx context.Context) error {
				_, err := flow.Stop{Edges: p.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User})
				return err
			}}
		}, nil},
		{"preempt while parked", 1, func(p *stage.Play) []act {
			return []act{whenAsked(p), send(p, id, "wait", contract.Preempt)}
		}, nil},
		{"delete while parked", 1, func(p *stage.Play) []act {
			return []act{whenAsked(p), func(ctx context.Context) error {
				_, err := flow.DeleteSession{Edges: p.Edges}.Do(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
				return err
			}}
		}, nil},
	}
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			fake.Explore(t, fake.Flow{Name: f.name + " an approval", Pairs: 10, Seed: 5, New: func() *fake.Run {
				p := parking(f.calls)
				p.Acts = append([]act{send(p, id, "use the tools", contract.Preempt)}, f.then(p)...)
				check := approvedOnce(p, f.may...)
				if strings.HasPrefix(f.name, "delete") {
					p.Round, check = 20*time.Minute, func() error { return nil } // a tombstone is looked at for a while
				}
				return p.Run(nil, check)
			}})
		})
	}
}

// TestWhoeverDecides steps deciders, stoppers and workers against one parked session.
func TestWhoeverDecides(t *testing.T) {
	stopping := func(p *stage.Play) act {
		return func(ctx context.Context) error {
			_, err := flow.Stop{Edges: p.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User})
			return err
		}
	}
	cases := []struct {
		name    string
		workers func(p *stage.Play, action string) []act
	}{
		{"two decide at once", func(p *stage.Play, action string) []act {
			return []act{decide(p, action, contract.Approve, stage.User), decide(p, action, contract.Deny, stage.User)}
		}},
		{"one decides, one stops", func(p *stage.Play, action string) []act {
			return []act{decide(p, action, contract.Approve, stage.User), stopping(p), worker(p, id)}
		}},
		{"one decides, one interrupts", func(p *stage.Play, action string) []act {
			return []act{decide(p, action, contract.Approve, stage.User), send(p, id, "wait", contract.Preempt), worker(p, id)}
		}},
		{"one decides, two workers", func(p *stage.Play, action string) []act {
			return []act{decide(p, action, contract.Approve, stage.User), worker(p, id), worker(p, id)}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fake.ExploreSteps(t, fake.Steps{Name: c.name, Kill: true, Cap: 60, Random: 40, New: func() *fake.Meeting {
				p := parking(1)
				before(p, send(p, id, "use the tools", contract.Preempt), p.Drain)
				m := meeting(p, nil, func() error {
					if s := p.State(id); s.Phase == session.Parked { // whoever decided died: nobody does in time
						return nil
					}
					return approvedOnce(p, "b0")()
				}, c.workers(p, callID(t, p, "write_down")[0])...)
				return m
			}})
		})
	}
}
