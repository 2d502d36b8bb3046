package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// onceOnly makes write_down a tool that must not run twice.
func onceOnly(p *stage.Play) *stage.Play {
	p.Engine.Tools = tool.Registry{p.Engine.Tools[0], tool.Once(p.Engine.Tools[1])}
	return p
}

// onceFor is a tool of which calls with the text b must not run twice.
type onceFor struct{ tool.Tool }

func (o onceFor) Spec() tool.Spec {
	s := o.Tool.Spec()
	s.OnceFor = func(input json.RawMessage) bool { return strings.Contains(string(input), `"b"`) }
	return s
}

// onlyOnce is the check that write_down ran once, or not at all with its outcome told as unknown; and that look_up ran.
func onlyOnce(p *stage.Play) func() error {
	return func() error {
		n, unknown := p.Ran.Of("write_down", "b"), toldUnknown(p)
		if n > 1 || n == 0 && !unknown {
			return fmt.Errorf("write_down ran %d times, unknown %t", n, unknown)
		}
		if p.Ran.Of("look_up", "a") < 1 {
			return fmt.Errorf("look_up did not run")
		}
		return p.Check(id)
	}
}

// toldUnknown reports whether the model read that it is not known whether a call took effect.
func toldUnknown(p *stage.Play) bool {
	for _, req := range p.Model.Requests() {
		for _, result := range req.Messages[len(req.Messages)-1].Results() {
			if strings.Contains(result.Content[0].Text, "not run a second time") {
				return true
			}
		}
	}
	return false
}

// TestExploreCallsThatMustNotRunTwice kills, cuts and repeats at every call of a turn with a tool that must not run twice.
func TestExploreCallsThatMustNotRunTwice(t *testing.T) {
	flows := []struct {
		name string
		new  func() *fake.Run
	}{
		{"a tool that must not run twice", func() *fake.Run {
			p := onceOnly(play(helpful))
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			return p.Run(nil, onlyOnce(p))
		}},
		{"a call that must not run twice, of a tool whose others may", func() *fake.Run {
			p := play(helpful)
			p.Engine.Tools = tool.Registry{p.Engine.Tools[0], onceFor{p.Engine.Tools[1]}}
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			return p.Run(nil, onlyOnce(p))
		}},
		{"a tool that must not run twice, handed on in the middle", func() *fake.Run {
			p := onceOnly(play(helpful))
			cutTools(p.Stage, 4*time.Second)
			p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
			return p.Run(nil, onlyOnce(p))
		}},
	}
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) { fake.Explore(t, fake.Flow{Name: f.name, New: f.new, Pairs: 60}) })
	}
}

// TestACallThatHasEndedKeepsItsResult: the table does not answer when the second of two calls that must not run twice is to be marked,
// so the owner begins the step again. What came of the first is known, also to a turn that is stopped just then.
func TestACallThatHasEndedKeepsItsResult(t *testing.T) {
	for _, tt := range []struct {
		name string
		stop bool
		want []string
	}{
		{"and the turn goes on", false, []string{
			`action.result {"id":"call_10","name":"look_up","status":"success","output":"look_up did a","durationMs":0}`,
			`action.result {"id":"call_11","name":"write_down","status":"success","output":"write_down did b","durationMs":0}`,
		}},
		{"and the turn is stopped", true, []string{
			`action.result {"id":"call_10","name":"look_up","status":"success","output":"look_up did a","durationMs":0}`,
			`action.result {"id":"call_11","name":"write_down","status":"error","output":"` + interrupted + `","durationMs":0}`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				s.Engine.Tools = tool.Registry{tool.Once(s.Engine.Tools[0]), tool.Once(s.Engine.Tools[1])}
				s.Engine.Limits.Parallel = 1
				s.Acting = func(tc tool.Context) {
					if tc.ToolUseID != "call_10" {
						return
					}
					if tt.stop {
						_, err := flow.Stop{Edges: s.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User})
						must(t, err)
					}
					s.World.FailNext("dynamo.GetItem", fake.ErrThrottled)
				}
				say(t, ctx, s, "use the tools")
				if diff := cmp.Diff(tt.want, told(t, s, id, "action.result")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestAReadIsRepeatedWhileACallIsMarked: the retry is told from the tool's own goroutine while the owner writes the mark of the other
// call. The race detector looks on.
func TestAReadIsRepeatedWhileACallIsMarked(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Tools = tool.Registry{tool.ReadOnly(busyOnce("look_up")), tool.Once(s.Engine.Tools[1])}
		say(t, ctx, s, "use the tools")
		if got := told(t, s, id, "action.tool_retry"); len(got) != 1 {
			t.Errorf("retries told: %q", got)
		}
		if got := s.Ran.Of("write_down", "b"); got != 1 {
			t.Errorf("write_down ran %d times", got)
		}
	})
}
