package turn_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestATurnWhoseCallsFailOnce fails each call of a turn once while its worker lives. What the model was asked before is counted, also where
// it is asked again; no tool that has ended runs again; and the log tells all of it once.
func TestATurnWhoseCallsFailOnce(t *testing.T) {
	tools := func() *stage.Play {
		p := play(helpful)
		p.Acts = []act{send(p, id, "use the tools", contract.Preempt)}
		return p
	}
	took := regexp.MustCompile(`,"durationMs":[0-9]+`)
	log := func(t *testing.T, p *stage.Play) string {
		lines := told(t, p.Stage, id, "subagent.called", "subagent.completed", "action.result", "artifact.tagged", "actions.completed")
		slices.Sort(lines) // the tools of a step may end in any order
		return p.Story(id) + took.ReplaceAllString(strings.Join(lines, "\n"), "")
	}
	for name, begin := range map[string]func() *stage.Play{"tools": tools, "a subagent": delegating, "files": filing} {
		calm, want := 0, ""
		synctest.Test(t, func(t *testing.T) {
			p := begin()
			must(t, p.Do(t.Context()), p.Rest(t.Context(), id))
			calm, want = p.World.Count(""), log(t, p)
		})
		for at := range calm {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := begin()
					p.World.FailAt(at+1, fake.ErrLost)
					for range 2 {
						if p.Do(t.Context()) == nil { // else it was the client's call
							break
						}
					}
					p.World.Calm() // the sweep's are of no interest
					must(t, p.Rest(t.Context(), id), p.Check(id))
					failed := p.World.Calls()[at]
					if used, asked := usageOf(p).InputTokens, answeredBy(p); used != 10*asked {
						t.Errorf("%d tokens are counted for %d answers after %s", used, asked, failed)
					}
					if diff := cmp.Diff(want, log(t, p)); diff != "" {
						t.Errorf("after %s (-want +got):\n%s", failed, diff)
					}
					if got := p.Ran.Runs(); strings.Contains(got, ": 2") {
						t.Errorf("tools ran after %s:\n%s", failed, got)
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
