package session_test

import (
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/session"
)

// A message is admitted, a worker claims the session and opens a turn, and a second message interrupts it. Every step gives the
// next state and the condition under which the table takes it; here every one is taken.
func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	show := func(what string, s session.State) {
		fmt.Printf("%-9s %-7s owner %-4q pending %d preempted %v\n", what, s.Status(), s.Owner, s.Pending(), s.Preempted())
	}
	s := session.New("s-1", session.Chat, contract.Principal{Type: contract.UserPrincipal, ID: "ada"}, now)
	show("new", s)

	admitted, _ := s.Admit(contract.Preempt, nil, "", now)
	show("admitted", admitted.To)

	claimed, _ := admitted.To.Claim("w-7", now)
	me := session.Me{Owner: "w-7", Fence: claimed.To.Fence}
	plan, _ := claimed.To.Plan([]session.Waiting{{Number: 1, Bytes: 5}}, false)
	begun := claimed.To.Begin(me, plan, session.Progress{Tip: "segment", NextIndex: 3}, now)
	show("begun", begun.To)

	second, _ := begun.To.Admit(contract.Preempt, nil, "", now)
	show("second", second.To)

	_, taken := second.To.Claim("w-8", now)
	fmt.Println("another worker may claim it:", taken)
	// Output:
	// new       waiting owner ""   pending 0 preempted false
	// admitted  running owner ""   pending 1 preempted true
	// begun     running owner "w-7" pending 0 preempted false
	// second    running owner "w-7" pending 1 preempted true
	// another worker may claim it: false
}
