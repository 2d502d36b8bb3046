package turn_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestWhatIsUsedIsCountedWhateverIsRefused fails each call of a turn once while its worker lives: what the model was asked before is
// counted, also where it is asked again, and no tool that has ended runs again.
func TestWhatIsUsedIsCountedWhateverIsRefused(t *testing.T) {
	tools := func() *stage.Play {
		p := play(helpful)
		p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
		return p
	}
	for name, begin := range map[string]func() *stage.Play{"a turn with tools": tools, "a turn with a subagent": delegating} {
		calm := 0
		synctest.Test(t, func(t *testing.T) {
			p := begin()
			must(t, p.Do(t.Context()))
			calm = p.World.Count("")
		})
		for at := range calm {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := begin()
					p.World.FailAt(at+1, fake.ErrLost)
					if err := p.Do(t.Context()); err != nil { // it was the client's call
						must(t, p.Do(t.Context()))
					}
					must(t, p.Rest(t.Context(), id), p.Check(id))
					if used, asked := usageOf(p).InputTokens, answeredBy(p); used != 10*asked {
						t.Errorf("%d tokens are counted for %d answers after %s", used, asked, p.World.Calls()[at])
					}
					if got := p.Ran.Runs(); strings.Contains(got, ": 2") {
						t.Errorf("tools ran after %s:\n%s", p.World.Calls()[at], got)
					}
				})
			})
		}
	}
}

// answeredBy counts the answers that the model gave.
func answeredBy(p *stage.Play) int {
	n := 0
	for _, c := range p.World.Calls() {
		if c.Name == "model.Stream" && c.Err == nil {
			n++
		}
	}
	return n
}

// TestWhatACutStepUsedIsCounted: an invocation ends while a subagent's answer is worked on. The next one begins the call again, and the
// turn has used both.
func TestWhatACutStepUsedIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := delegating()
		p.Timeout, p.Engine.HandOff = 10*time.Second, 3*time.Second
		slow := true
		p.Acting = func(tc tool.Context) { // of the subagent: its model was asked once by then
			if slow {
				slow = false
				takes(tc, 20*time.Second)
			}
		}
		must(t, p.Do(t.Context()), p.Rest(t.Context(), id), p.Check(id))
		if n := p.State(id).Fence; n != 2 {
			t.Fatalf("%d invocations, want 2", n)
		}
		if used, asked := usageOf(p).InputTokens, answeredBy(p); used != 10*asked {
			t.Errorf("%d tokens are counted for %d answers:\n%s", used, asked, delegations(p))
		}
	})
}
