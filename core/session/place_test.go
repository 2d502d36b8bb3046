package session_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/session"
)

// place is number n of the stack, lent to a session for as long as said.
func place(n int, id string, left time.Duration) session.Place {
	return session.Place{Scope: "stack", Number: n, SessionID: id, Owner: "o-" + id, Fence: 3, LeaseUntil: ms(left)}
}

func waiter(id string, since int64) session.Waiter {
	return session.Waiter{Scope: "stack", SessionID: id, Since: since}
}

func TestWhoseTurnItIs(t *testing.T) {
	line := func(most int, places []session.Place, waiters ...session.Waiter) session.Line {
		return session.Line{Scope: "stack", Max: most, Places: places, Waiters: waiters}
	}
	tests := []struct {
		name     string
		line     session.Line
		number   int // of the place for session s, which waits since 10; 0: it waits
		position int
	}{
		{"nobody there", line(2, nil), 1, 1},
		{"one runs", line(2, []session.Place{place(1, "a", time.Second)}), 2, 1},
		{"all run", line(2, []session.Place{place(1, "a", time.Second), place(2, "b", time.Second)}), 0, 1},
		{"one has died, and its margin is over", line(2, []session.Place{place(1, "a", -6*time.Second), place(2, "b", time.Second)}), 1, 1},
		{"one has died just now", line(1, []session.Place{place(1, "a", -4*time.Second)}), 0, 1},
		{"its own, of an owner before", line(1, []session.Place{place(1, "s", time.Second)}), 1, 1},
		{"an older one waits", line(1, nil, waiter("a", 9)), 0, 2},
		{"a younger one waits", line(1, nil, waiter("s", 10), waiter("a", 11)), 1, 1},
		{"as old: the id decides", line(1, nil, waiter("a", 10), waiter("s", 10)), 0, 2},
		{"one before it, and two places", line(2, nil, waiter("a", 9), waiter("s", 10)), 2, 2},
		{"two before it, one place", line(2, []session.Place{place(2, "x", time.Second)}, waiter("a", 8), waiter("b", 9), waiter("s", 10)), 0, 3},
		{"the maximum was lowered", line(1, []session.Place{place(5, "a", time.Second)}), 0, 1},
		{"the maximum was lowered, all ended", line(1, []session.Place{place(5, "a", -time.Minute)}), 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ok := tt.line.Turn("s", 10, now)
			if p.Number != tt.number || ok != (tt.number > 0) {
				t.Errorf("Turn = place %d, %v, want %d", p.Number, ok, tt.number)
			}
			if n := tt.line.Position("s", 10); n != tt.position {
				t.Errorf("Position = %d, want %d", n, tt.position)
			}
		})
	}
}

func TestWaiting(t *testing.T) {
	s := session.New("s", session.Chat, user, now).With(now)
	c, _ := s.Claim("me", now)
	s = c.To
	me := session.Me{Owner: "me", Fence: s.Fence}
	w := s.Waiter("stack", now)
	s = s.Wait(me, w, session.Progress{NextIndex: 2}, now).To
	if !s.Waits(w, now) || !s.Standing() || s.Owner != "" || s.DueSK == "" || s.Tries != 0 || s.NextIndex != 2 {
		t.Errorf("while it waits: %+v", s)
	}
	later := now.Add(time.Minute)
	if again := s.Waiter("principal", later); again.Since != w.Since || again.Scope != "principal" {
		t.Errorf("in another line it stands as %+v, want its time kept", again)
	}
	stopped, _, err := s.StopTurn(later)
	if err != nil || stopped.To.Standing() {
		t.Errorf("a stop leaves something to do: %+v, %v", stopped.To, err)
	}
	claim, _ := s.Claim("next", later)
	begun := claim.To.Begin(session.Me{Owner: "next", Fence: 2}, session.Opening{To: 1}, session.Progress{NextIndex: 4}, later).To
	if begun.Queued || begun.QueuedAt != 0 || begun.QueuedIn != "" || begun.Waits(w, later) {
		t.Errorf("a turn that began still waits: %+v", begun)
	}
	if diff := cmp.Diff(session.Waiter{Scope: "stack", SessionID: "s", Since: later.UnixMilli(), ExpiresAt: later.Add(session.Life).Unix()}, begun.Waiter("stack", later)); diff != "" {
		t.Errorf("the next time it stands at the end (-want +got):\n%s", diff)
	}
}
