package session_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"pgregory.net/rapid"
)

// drawState draws any state the protocol allows, with small numbers so that they often meet.
func drawState(t *rapid.T) session.State {
	number := func(name string, from, to int64) int64 { return rapid.Int64Range(from, to).Draw(t, name) }
	often := func(name string, usual, from, to int64) int64 {
		if rapid.Bool().Draw(t, "usual "+name) {
			return usual
		}
		return number(name, from, to)
	}
	s := session.New("s", rapid.SampledFrom([]session.Mode{session.Chat, session.Chat, session.TaskRun}).Draw(t, "mode"), user, now)
	s.Phase = rapid.SampledFrom([]session.Phase{session.Idle, session.Idle, session.Open, session.Open, session.Open, session.Parked, session.Done, session.Deleted}).Draw(t, "phase")
	if rapid.Bool().Draw(t, "another's") {
		s.Principal.ID = "user-2"
	}
	s.Token = rapid.SampledFrom([]string{"token", "token", "stale", ""}).Draw(t, "token")
	s.CreatedBy = rapid.SampledFrom([]string{"", "call-0"}).Draw(t, "createdBy")
	s.Owner = rapid.SampledFrom([]string{"me", "me", "me", "other", ""}).Draw(t, "owner")
	s.Fence = often("fence", 3, 2, 3)
	if s.Owner != "" {
		s.LeaseUntil = ms(rapid.SampledFrom([]time.Duration{-time.Minute, -5001 * time.Millisecond, -5 * time.Second, -time.Second, 0, session.Lease}).Draw(t, "lease"))
	}
	s.Admitted = number("admitted", 1, 4)
	s.Taken = often("taken", s.Admitted, 0, s.Admitted)
	s.TurnSeq = often("turnSeq", s.Taken, 0, s.Taken)
	s.Seen = number("seen", s.TurnSeq, s.Admitted)
	s.StopSeq, s.PreemptSeq = often("stopSeq", 0, 0, s.Admitted), often("preemptSeq", 0, 0, s.Admitted)
	s.Step = number("step", 0, 1)
	s.Tip = rapid.SampledFrom([]string{"", "tip"}).Draw(t, "tip")
	s.ApprovalsOpen = number("approvalsOpen", 0, 1)
	s.ApprovalUntil = ms(rapid.SampledFrom([]time.Duration{-time.Millisecond, 0, time.Hour}).Draw(t, "approvalUntil"))
	if rapid.Bool().Draw(t, "due") {
		s.DuePK, s.DueSK = key.DuePK("SESSION#s"), key.DueSK(ms(time.Minute))
	}
	return s
}

// drawRow draws the row that a change meets: the state that was read, or one that has moved on in some of its fields.
func drawRow(t *rapid.T, read session.State) session.State {
	row := read
	if rapid.Bool().Draw(t, "as read") {
		return row
	}
	other := drawState(t)
	to, from := reflect.ValueOf(&row).Elem(), reflect.ValueOf(other)
	for _, field := range rapid.SliceOfN(rapid.IntRange(0, to.NumField()-1), 1, 12).Draw(t, "moved") {
		to.Field(field).Set(from.Field(field))
	}
	if row.Owner == "" || row.LeaseUntil == 0 { // an owner has a lease
		row.Owner, row.LeaseUntil = "", 0
	}
	return row
}

// merged is the row after a change: what the change differs in, over what the row was.
func merged(row session.State, c session.Change) session.State {
	from, to, out := reflect.ValueOf(c.From), reflect.ValueOf(c.To), reflect.ValueOf(&row).Elem()
	for i := range out.NumField() {
		if !reflect.DeepEqual(from.Field(i).Interface(), to.Field(i).Interface()) {
			out.Field(i).Set(to.Field(i))
		}
	}
	if c.To.DueSK != c.From.DueSK { // the two keys of the index go together
		row.DuePK = c.To.DuePK
	}
	return row
}

// TestGuardsAgreeWithTheProtocol writes every change over rows that are as they were read or have moved: the table takes it if and
// only if the protocol allows it, and then only what the change differs in is written.
func TestGuardsAgreeWithTheProtocol(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 5 { // enough that each change is met both ways, whatever the dice say
			read := drawState(t)
			for range 3 {
				row := drawRow(t, read)
				for _, e := range events() {
					if accepted, ok := guarded(t, e, read, row); ok {
						seen[fmt.Sprintf("%s %v", e.name, accepted)]++
					}
				}
			}
		}
	})
	for _, e := range events() {
		if e.name != "admit with a stale token" && (seen[e.name+" true"] == 0 || seen[e.name+" false"] == 0) {
			t.Errorf("%s: accepted %d times, refused %d: the test says nothing", e.name, seen[e.name+" true"], seen[e.name+" false"])
		}
	}
}

// guarded writes the change that e makes of what was read over the row. ok is false when e makes none.
func guarded(t *rapid.T, e event, read, row session.State) (accepted, ok bool) {
	c, ok, err := e.do(read)
	if !ok || err != nil {
		return false, false
	}
	after, accepted := written(row, c)
	if want := e.allowed(row, read); accepted != want {
		t.Fatalf("%s: accepted %v, the protocol says %v\nread %+v\nrow  %+v", e.name, accepted, want, read, row)
	}
	expected := row
	if accepted {
		expected = merged(row, c)
	}
	if diff := cmp.Diff(expected, after); diff != "" {
		t.Fatalf("%s, accepted %v, the row (-want +got):\n%s", e.name, accepted, diff)
	}
	return accepted, true
}

// A predicate and the change it stands for agree: there is a change exactly when there is something to do.
func TestPredicatesAgreeWithChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		if got, want := s.Work(now), work(s); got != want {
			t.Errorf("Work = %v, want %v: %+v", got, want, s)
		}
		if got, want := s.Free(now), free(s); got != want {
			t.Errorf("Free = %v, want %v: %+v", got, want, s)
		}
		if _, ok := s.Claim("new", now); ok != (free(s) && work(s)) {
			t.Errorf("Claim = %v, want %v: %+v", ok, free(s) && work(s), s)
		}
		if _, err := s.Admit(contract.Coalesce, nil, "", now); (err == nil) != (alive(s) && s.Mode == session.Chat) {
			t.Errorf("Admit = %v: %+v", err, s)
		}
		if _, ok := s.Delete(now); ok != (s.Phase != session.Deleted) {
			t.Errorf("Delete = %v: %+v", ok, s)
		}
	})
}

// What the sweep writes is taken by the row as it was read and by no row whose due time has moved.
func TestSweepIsConditionalOnTheDueTime(t *testing.T) {
	remedies := map[session.Remedy]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		remedy, c := s.Sweep(now, time.Minute)
		remedies[remedy]++
		if remedy == session.LeaveAlone {
			if s.DueSK != "" {
				t.Fatalf("a session that is due is left alone: %+v", s)
			}
			return
		}
		after, accepted := written(s, c)
		if diff := cmp.Diff(c.To, after); diff != "" || !accepted {
			t.Fatalf("%s is refused by the row as read, or something else is written (-want +got):\n%s", remedy, diff)
		}
		if remedy == session.Tidy && s.Phase == session.Idle {
			tidiesOnlyTheDead(t, s, c)
		}
		moved := s
		moved.DueSK = key.DueSK(ms(2 * time.Minute))
		if _, accepted := written(moved, c); accepted {
			t.Fatalf("%s is taken by a row whose due time has moved", remedy)
		}
		if owes := s.Work(now) || s.Owner != "" && remedy != session.Tidy || s.Phase == session.Deleted && remedy != session.Forget; owes && after.DueSK == "" {
			t.Fatalf("%s takes the due time of a session with work or an owner: %+v", remedy, s)
		}
	})
	for _, r := range []session.Remedy{session.WaitOwner, session.Purge, session.Tidy, session.Trigger} {
		if remedies[r] == 0 {
			t.Errorf("no session was to %s: the test says nothing", r)
		}
	}
}

// tidiesOnlyTheDead: a row with the same due time, in which a message waits or an owner lives, is not tidied.
func tidiesOnlyTheDead(t *rapid.T, s session.State, c session.Change) {
	waits, lives, opened := s, s, s
	waits.Admitted++
	lives.Owner, lives.LeaseUntil = "other", ms(session.Lease)
	opened.Phase = session.Open
	for _, row := range []session.State{waits, lives, opened} {
		if _, accepted := written(row, c); accepted {
			t.Fatalf("a session with work or a living owner is tidied: %+v", row)
		}
	}
}
