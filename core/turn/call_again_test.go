package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// delivered is a direct call that is known by a delivery id.
func delivered(delivery, name, text string) turn.CallIn {
	return turn.CallIn{SessionID: id, Caller: stage.User, Name: name, Input: json.RawMessage(fmt.Sprintf(`{"text":%q}`, text)), DeliveryID: delivery}
}

// TestACallAgain: the same delivery of the same tool is the same call, whatever else happens in the session.
func TestACallAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := resting(t, ctx)
		first, err := p.Engine.Call(ctx, delivered("d-1", "write_down", "a"))
		noError(t, err)
		noError(t, send(p, id, "and now?", contract.Preempt)(ctx))
		again, err := p.Engine.Call(ctx, delivered("d-1", "write_down", "a")) // also of a session that is busy
		noError(t, err, p.Rest(ctx, id), p.Check(id))
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("the second answer (-first +again):\n%s", diff)
		}
		other, err := p.Engine.Call(ctx, delivered("d-1", "look_up", "a"))
		noError(t, err)
		third, err := p.Engine.Call(ctx, delivered("d-2", "write_down", "a"))
		if noError(t, err, p.Check(id)); other.ID == first.ID || third.ID == first.ID {
			t.Errorf("another tool's call is %s, another delivery's %s, the first %s", other.ID, third.ID, first.ID)
		}
		if got := p.Ran.Of("write_down", "a"); got != 2 {
			t.Errorf("write_down ran %d times, want once for each delivery", got)
		}
		in := delivered("d-1", "write_down", "a")
		in.Caller = task.User("eve")
		if _, err := p.Engine.Call(ctx, in); !fault.Is(err, fault.Denied) {
			t.Errorf("somebody else is told: %v", err)
		}
	})
}

// TestACallThatWasNotBegun is none: what is refused may be asked for again under the same delivery.
func TestACallThatWasNotBegun(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := resting(t, ctx)
		all := p.Engine.Tools
		p.Engine.Tools = tool.Registry{all[0], tool.RequireApproval(all[1])}
		if _, err := p.Engine.Call(ctx, delivered("d-1", "write_down", "a")); fault.ReasonOf(err) != "approval_required" {
			t.Fatalf("Call = %v", err)
		}
		p.Engine.Tools = all
		if done, err := p.Engine.Call(ctx, delivered("d-1", "write_down", "a")); err != nil || done.Status != "success" {
			t.Errorf("Call = %+v, %v", done, err)
		}
		if _, err := p.Engine.Call(ctx, delivered("d\x00", "write_down", "a")); !fault.Is(err, fault.Invalid) {
			t.Errorf("a delivery id with a control character: %v", err)
		}
	})
}

// TestACallThatWasCutOff is not run a second time: whoever asks again is told that nobody knows. TestExploreACallAgain has the workers die.
func TestACallThatWasCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := resting(t, ctx)
		cut, cancel := context.WithCancel(ctx)
		p.Acting = func(tool.Context) {
			if _, err := p.Engine.Call(ctx, delivered("d-1", "write_down", "a")); fault.ReasonOf(err) != "session_busy" {
				t.Errorf("while it runs: %v, want session_busy", err)
			}
			cancel()
		}
		if _, err := p.Engine.Call(cut, delivered("d-1", "write_down", "a")); err == nil {
			t.Fatal("the call was not cut off")
		}
		p.Acting = nil
		if _, err := p.Engine.Call(ctx, delivered("d-1", "write_down", "a")); fault.ReasonOf(err) != "outcome_unknown" || !fault.Is(err, fault.Conflict) {
			t.Errorf("afterwards: %v, want outcome_unknown", err)
		}
		noError(t, p.Check(id))
	})
}

// TestExploreACallAgain: whoever dies, wherever, and however often it is asked for: the tool runs at most once, and an answer is the one
// that the log has.
func TestExploreACallAgain(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a call with a delivery id", Pairs: 20, Seed: 9, New: func() *fake.Run {
		p := play(func(model.Request) fake.Turn { return fake.Say("Fine.") })
		again := settled(func(ctx context.Context) error {
			_, err := p.Engine.Call(ctx, delivered("d-1", "write_down", "a"))
			if fault.ReasonOf(err) == "outcome_unknown" {
				return nil
			}
			return err
		})
		p.Acts = []act{send(p, id, "hello", contract.Preempt), p.Drain, again, again}
		return p.Run(nil, func() error {
			if n := p.Ran.Of("write_down", "a"); n > 1 {
				return fmt.Errorf("it ran %d times", n)
			}
			return callsAreWhole(p)
		})
	}})
}
