package socket_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/retell"
	"github.com/steadfast-agents/steadfast/core/socket"
)

// TestWithdraw: a client that understands drops all of the turn, an old one is told the error alone, and who comes late sees no text.
func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("old"), capable("new")}, "s-1", "t-1", 7)
		turn.Start(nil)
		turn.Text("a step that was done", nil)
		turn.Step()
		turn.Text("and words", nil)
		turn.Flush()
		turn.Withdraw(2)
		turn.Withdraw(2) // there is nothing left to take back
		late := capable("late")
		late.Asked = 1
		turn.Add(late)
		turn.Fail("blocked", "withheld")
		turn.Close()
		if diff := cmp.Diff([]string{"init", "a step that was done", "and words", "error blocked"}, story(c.of("old"))); diff != "" {
			t.Errorf("the old client (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"init", "a step that was done", "and words", "reset", "error blocked"}, story(c.of("new"))); diff != "" {
			t.Errorf("the new client (-want +got):\n%s", diff)
		}
		for _, p := range c.of("new") {
			if e := p.message.Event; e != nil && e.Reset != nil && (p.message.Offset == nil || *p.message.Offset != 0) {
				t.Errorf("reset to %v, want to the beginning", p.message.Offset)
			}
		}
		for _, line := range story(c.of("late")) {
			if line == "and words" || line == "a step that was done" {
				t.Errorf("who came late was told %q", line)
			}
		}
	})
}

// TestWithdrawWhatAnotherOwnerShowed: its log tells of nothing any more, but its clients may have seen it.
func TestWithdrawWhatAnotherOwnerShowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{capable("new")}, "s-1", "t-1", 8)
		turn.Resume(retell.Turn{})
		turn.Withdraw(2)
		turn.Fail("blocked", "withheld")
		turn.Close()
		if diff := cmp.Diff([]string{"reset", "error blocked"}, story(c.of("new"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
