package session_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
)

var update = flag.Bool("update", false, "write testdata/transitions.txt: a change of it is a change of the rules")

// TestEveryStateAndEvent shows what every event does in every state: what it changes, "-" when the rules make no change of it, the
// fault, or "refused" when the table refuses the change that an owner would write.
func TestEveryStateAndEvent(t *testing.T) {
	var b strings.Builder
	for _, s := range states() {
		fmt.Fprintf(&b, "%s\n", s.name)
		for _, e := range events() {
			fmt.Fprintf(&b, "    %-26s %s\n", e.name, outcome(t, s.State, e))
		}
	}
	const golden = "testdata/transitions.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
}

func outcome(t *testing.T, s session.State, e event) string {
	c, ok, err := e.do(s)
	switch {
	case err != nil:
		return strings.TrimSpace(fmt.Sprintf("%s %s", fault.CodeOf(err), fault.ReasonOf(err)))
	case !ok:
		return "-"
	}
	after, accepted := written(s, c)
	if want := e.allowed(s, s); accepted != want {
		t.Errorf("%s: accepted %v, the protocol says %v", e.name, accepted, want)
	}
	if !accepted {
		return "refused"
	}
	if diff := cmp.Diff(c.To, after); diff != "" {
		t.Errorf("%s is not what was written (-want +got):\n%s", e.name, diff)
	}
	return changes(s, after)
}

// A task's cancel stops no turn but its own.
func TestStopTaskOfAnotherTurn(t *testing.T) {
	for _, s := range states() {
		for _, turn := range []int64{0, s.TurnSeq - 1, s.TurnSeq + 1} {
			if c, ok := s.StopTask(turn, now); ok {
				t.Errorf("%s: StopTask(%d) in turn %d = %s, want none", s.name, turn, s.TurnSeq, changes(c.From, c.To))
			}
		}
	}
}

// A task's message is admitted as any other, but interrupts nothing.
func TestAdmitTask(t *testing.T) {
	for _, s := range states() {
		asTask, taskErr := s.AdmitTask(now)
		coalescing, err := s.Admit(contract.Coalesce, nil, "", now)
		if diff := cmp.Diff(coalescing, asTask); diff != "" || fault.ReasonOf(taskErr) != fault.ReasonOf(err) || fault.CodeOf(taskErr) != fault.CodeOf(err) {
			t.Errorf("%s: %v, want %v (-want +got):\n%s", s.name, taskErr, err, diff)
		}
	}
}
