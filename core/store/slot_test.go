package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

func TestPlaces(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		commit := func(w ...store.Write) error { return b.Commit(t.Context(), w...) }
		first, next := session.Me{Owner: "o1", Fence: 1}, session.Me{Owner: "o2", Fence: 2}
		lent := session.Place{Scope: "stack", Number: 1}.Lent("s1", first, b.clock.Now())
		if err := commit(b.TakePlace(lent)); err != nil {
			t.Fatal(err)
		}
		other := session.Place{Scope: "stack", Number: 1}.Lent("s2", session.Me{Owner: "x", Fence: 9}, b.clock.Now())
		refused := map[string]store.Write{
			"another session":        b.TakePlace(other),
			"a longer lease by it":   store.KeepPlace(other, other.Lent("s2", session.Me{Owner: "x", Fence: 9}, b.clock.Now().Add(time.Second))),
			"its removal by another": store.LeavePlace(other),
		}
		for name, w := range refused {
			if err := commit(w); !fault.Is(err, fault.Conflict) {
				t.Errorf("%s: %v, want Conflict", name, err)
			}
		}
		taken := lent.Lent("s1", next, b.clock.Now())
		if err := commit(b.TakePlace(taken), store.PutWaiter(session.Waiter{Scope: "stack", SessionID: "s3", Since: 20}),
			store.PutWaiter(session.Waiter{Scope: "stack", SessionID: "s4", Since: 3})); err != nil {
			t.Fatalf("the next owner of the session: %v", err)
		}
		if err := commit(b.TakePlace(lent)); !fault.Is(err, fault.Conflict) {
			t.Errorf("the owner before: %v, want Conflict", err)
		}
		b.clock.Advance(10 * time.Second)
		kept := taken.Lent("s1", next, b.clock.Now())
		if err := commit(store.KeepPlace(taken, kept)); err != nil {
			t.Error(err)
		}
		want := session.Line{Scope: "stack", Places: []session.Place{kept}, Waiters: []session.Waiter{
			{Scope: "stack", SessionID: "s4", Since: 3}, {Scope: "stack", SessionID: "s3", Since: 20}}}
		if got, err := b.Line(t.Context(), "stack"); err != nil || !cmp.Equal(want, got) {
			t.Errorf("Line: %v (-want +got):\n%s", err, cmp.Diff(want, got))
		}
		b.clock.Advance(session.Lease + session.Margin + time.Second)
		if err := commit(b.TakePlace(other), store.DropWaiter(want.Waiters[0]), store.DropWaiter(session.Waiter{Scope: "stack", SessionID: "never"})); err != nil {
			t.Errorf("after the lease: %v", err)
		}
		if err := commit(store.LeavePlace(other)); err != nil {
			t.Error(err)
		}
		want = session.Line{Scope: "stack", Waiters: want.Waiters[1:]}
		if got, err := b.Line(t.Context(), "stack"); err != nil || !cmp.Equal(want, got) {
			t.Errorf("Line: %v (-want +got):\n%s", err, cmp.Diff(want, got))
		}
	})
}
