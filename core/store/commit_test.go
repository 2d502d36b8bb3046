package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func TestARefusalCarriesTheOldRow(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		there := fullState(b.clock.Now())
		b.commit(t, store.NewState(there))
		moved := there
		moved.Step++
		stale := store.ChangeState(session.Change{From: there, To: moved, If: cond.Eq("fence", 99)})
		tests := []struct {
			name   string
			writes []store.Write
		}{
			{"put alone", []store.Write{store.NewState(session.New("s-1", session.Chat, user, b.clock.Now()))}},
			{"update alone", []store.Write{stale}},
			{"check alone", []store.Write{store.CheckNoState("s-1")}},
			{"delete alone", []store.Write{store.DeleteExpiredState("s-1", b.clock.Now().Unix())}},
			{"second of a transaction", []store.Write{store.TakeMessage("s-1", 1), stale}},
			{"check in a transaction", []store.Write{store.NewMessage("s-1", store.Message{Number: 5}), store.CheckNoState("s-1")}},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				err := b.Commit(t.Context(), tt.writes...)
				got, exists, refused := store.RefusedState(err, "s-1")
				if !refused || !exists || !fault.Is(err, fault.Conflict) || !store.RefusedBy(err, key.State("s-1")) {
					t.Fatalf("Commit = %v (%s), refused %v, exists %v", err, fault.CodeOf(err), refused, exists)
				}
				if diff := cmp.Diff(there, got); diff != "" {
					t.Errorf("the old row (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestARefusalByNoRow(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		s := fullState(b.clock.Now())
		to := s
		to.Step++
		err := b.Commit(t.Context(), store.ChangeState(session.Change{From: s, To: to, If: cond.Eq("fence", 3)}), store.TakeMessage("s-1", 7))
		if _, exists, refused := store.RefusedState(err, "s-1"); !refused || exists {
			t.Errorf("RefusedState(%v) = exists %v, refused %v; want refused by no row", err, exists, refused)
		}
		if !store.RefusedBy(err, key.Inbox("s-1", 7)) || store.RefusedBy(err, key.Inbox("s-1", 8)) {
			t.Errorf("RefusedBy(%v): want by message 7 alone", err)
		}
		if _, refused := store.RefusedTask(err, "t"); refused {
			t.Error("RefusedTask = true, want false: no task was written")
		}
		var r *store.RefusedError
		if !errors.As(err, &r) || !strings.Contains(r.Error(), "INBOX#000000000007") {
			t.Errorf("%v does not name the row", err)
		}
	})
}

// Every kind of write in one transaction: all of it or, when one is refused, none.
func TestAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		now := b.clock.Now()
		s := session.New("s-1", session.Chat, user, now)
		b.commit(t, store.NewState(s), store.NewMessage("s-1", store.Message{Number: 1, DeliveryID: "d"}))
		moved := s
		moved.Step++
		writes := []store.Write{
			store.ChangeState(session.Change{From: s, To: moved, If: cond.Eq("step", 0)}),
			store.TakeMessage("s-1", 1),
			store.NewEvents("s-1", session.Me{}, events(0, "a"), now.Unix()),
			store.PutListing(s, "Demo"),
			store.CheckConfig("s-1", ""),
		}
		before := b.partition(t, key.SessionPK("s-1"))
		for i := range len(writes) + 1 {
			refusing := append(append(append([]store.Write{}, writes[:i]...), store.TakeMessage("s-1", 99)), writes[i:]...)
			err := b.Commit(t.Context(), refusing...)
			if !store.RefusedBy(err, key.Inbox("s-1", 99)) || fault.CodeOf(err) != fault.Conflict {
				t.Fatalf("Commit with a refused write at %d = %v", i, err)
			}
			got, _ := b.State(t.Context(), "s-1")
			if diff := cmp.Diff(before, b.partition(t, key.SessionPK("s-1"))); diff != "" || got.Step != 0 {
				t.Fatalf("refused at %d, step %d, rows (-before +after):\n%s", i, got.Step, diff)
			}
		}
		b.commit(t, writes...)
		want := []string{"EVENT#000000000000", "STATE"}
		if diff := cmp.Diff(want, b.partition(t, key.SessionPK("s-1"))); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

func TestAnUnchangedRecordIsACheck(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		s := session.New("s-1", session.Chat, user, b.clock.Now())
		b.commit(t, store.NewState(s))
		for _, tt := range []struct {
			admitted int
			want     fault.Code
		}{{0, ""}, {1, fault.Conflict}} {
			same := session.Change{From: s, To: s, If: cond.Eq("admitted", tt.admitted)}
			wants(t, fmt.Sprintf("Commit if admitted=%d", tt.admitted), b.Commit(t.Context(), store.ChangeState(same)), tt.want)
		}
	})
}

// Renewing brings back what others wrote meanwhile, also when the lease ends when it did.
func TestRenewAnswersWithTheRow(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		s := fullState(b.clock.Now())
		b.commit(t, store.NewState(s))
		stopped := s
		stopped.StopSeq = 9
		b.commit(t, store.ChangeState(session.Change{From: s, To: stopped, If: cond.Eq("fence", 3)}))
		me := session.Me{Owner: "o-1", Fence: 3}
		for _, d := range []time.Duration{0, time.Second} {
			b.clock.Advance(d)
			got, err := b.Renew(t.Context(), s.Renew(me, b.clock.Now()))
			want := stopped
			want.LeaseUntil = b.clock.Now().Add(session.Lease).UnixMilli()
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("Renew after %s: %v (-want +got):\n%s", d, err, diff)
			}
		}
		_, err := b.Renew(t.Context(), s.Renew(session.Me{Owner: "o-2", Fence: 3}, b.clock.Now()))
		if got, exists, refused := store.RefusedState(err, "s-1"); !refused || !exists || got.StopSeq != 9 {
			t.Errorf("Renew by another = %v, want refused with the row", err)
		}
	})
}

func disturbed() (bench, *fake.Dynamo, *fake.World) {
	world, clock := &fake.World{}, &fake.Clock{Follow: true}
	d := fake.NewDynamo("main")
	d.World, d.Now = world, clock.Now
	return bench{Table: store.Table{Name: "main", DynamoDB: d, Now: clock.Now}, clock: clock}, d, world
}

// A write that meets another transaction has done nothing and is tried again, for a bounded time.
func TestConflictingWritesAreTriedAgain(t *testing.T) {
	one := []store.Write{store.NewMessage("s", store.Message{Number: 1})}
	two := append(one, store.NewMessage("s", store.Message{Number: 2}))
	tests := []struct {
		name   string
		writes []store.Write
		times  int
		want   fault.Code
		calls  int
	}{
		{"single, twice", one, 2, "", 3},
		{"transaction, twice", two, 2, "", 3},
		{"single, for ever", one, 1000, fault.Unavailable, 13},
		{"transaction, for ever", two, 1000, fault.Unavailable, 13},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, d, world := disturbed()
				world.Disturb(fake.Disturbance{Name: "dynamo.", Mode: fake.Fail, Err: fake.ErrConflict, Times: tt.times})
				wants(t, "Commit", b.Commit(t.Context(), tt.writes...), tt.want)
				if n := world.Count("dynamo."); n != tt.calls {
					t.Errorf("%d calls, want %d", n, tt.calls)
				}
				if rows := len(d.Items("")); (rows == 0) != (tt.want != "") {
					t.Errorf("%d rows are there", rows)
				}
			})
		})
	}
}

func TestWaitingForAConflictEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, world := disturbed()
		world.Disturb(fake.Disturbance{Name: "dynamo.", Mode: fake.Fail, Err: fake.ErrConflict, Times: 1000})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := b.Commit(ctx, store.NewMessage("s", store.Message{Number: 1}))
		if !errors.Is(err, context.DeadlineExceeded) || !fault.Retryable(err) || world.Count("dynamo.") > 12 {
			t.Errorf("Commit = %v after %d calls, want Unavailable because of the context before the last try", err, world.Count("dynamo."))
		}
	})
}

// A lost answer and a throttled call are Unavailable: the first may have been written, and the row tells.
func TestUnknownOutcomesAreUnavailable(t *testing.T) {
	for _, mode := range []fake.Mode{fake.LoseAnswer, fake.Fail} {
		t.Run(string(mode), func(t *testing.T) {
			b, _, world := disturbed()
			s := session.New("s", session.Chat, user, b.clock.Now())
			world.Disturb(fake.Disturbance{Name: "dynamo.Put", Mode: mode})
			wants(t, "Commit", b.Commit(t.Context(), store.NewState(s)), fault.Unavailable)
			_, err := b.State(t.Context(), "s")
			wants(t, "State afterwards", err, map[fake.Mode]fault.Code{fake.LoseAnswer: "", fake.Fail: fault.NotFound}[mode])
		})
	}
}

func TestReadsThatFailAreUnavailable(t *testing.T) {
	ctx := t.Context()
	b, _, world := disturbed()
	reads := map[string]func() error{
		"State":        func() error { _, err := b.State(ctx, "s"); return err },
		"Config":       func() error { _, _, err := b.Config(ctx, "s"); return err },
		"Task":         func() error { _, err := b.Task(ctx, "t"); return err },
		"TaskOrNone":   func() error { _, err := b.TaskOrNone(ctx, "t"); return err },
		"StartTask":    func() error { _, err := b.StartTask(ctx, task.Request{TaskID: "t"}, task.Claim{}); return err },
		"Dispatch":     func() error { _, err := b.Dispatch(ctx, "t"); return err },
		"Delivery":     func() error { _, err := b.Delivery(ctx, "s", "d"); return err },
		"Detail":       func() error { _, err := b.Detail(ctx, "d"); return err },
		"Connection":   func() error { _, err := b.Connection(ctx, "c"); return err },
		"Disconnect":   func() error { return b.Disconnect(ctx, "c") },
		"Subscribers":  func() error { _, err := b.Subscribers(ctx, "s"); return err },
		"Inbox":        func() error { _, err := b.Inbox(ctx, "s", 1, 2); return err },
		"EventRow":     func() error { _, err := b.EventRow(ctx, "s", 0); return err },
		"EventRows":    func() error { _, err := b.EventRows(ctx, "s", 0); return err },
		"History":      func() error { _, err := b.History(ctx, "s", "tip"); return err },
		"Package":      func() error { _, _, err := b.PackageSnapshot(ctx, "s"); return err },
		"Sessions":     func() error { _, _, err := b.Sessions(ctx, "user", "u", "", 5); return err },
		"Due":          func() error { _, err := b.Due(ctx, 0, b.clock.Now(), 5); return err },
		"Purge":        func() error { return b.Purge(ctx, "s", store.Purging{}) },
		"SessionEvent": func() error { return firstError(b.SessionEvents(ctx, "s", 0)) },
	}
	for name, read := range reads {
		for _, cause := range []error{fake.ErrThrottled, fake.ErrLost} {
			world.FailNext("dynamo.", cause)
			wants(t, fmt.Sprintf("%s when %v", name, cause), read(), fault.Unavailable)
		}
	}
}

// What the service will never take is our defect, and one that it must not even see is named.
func TestWhatIsNeverTaken(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		now := b.clock.Now()
		huge := strings.Repeat("x", store.MaxItemBytes)
		tests := []struct {
			name  string
			write store.Write
			want  fault.Code
		}{
			{"a message over the limit", store.NewMessage("s", store.Message{Number: 1, Text: huge}), fault.Limit},
			{"a config over the limit", store.NewConfig(session.Config{SessionID: "s", UserID: "u", SystemPrompt: huge}, now), fault.Limit},
			{"a key that is too long", store.NewDelivery(contract.Delivery{SessionID: "s", DeliveryID: strings.Repeat("d", 1100)}, 1, 2), fault.Internal},
		}
		for _, tt := range tests {
			for _, writes := range [][]store.Write{{tt.write}, {store.NewMessage("s", store.Message{Number: 2}), tt.write}} {
				err := b.Commit(t.Context(), writes...)
				wants(t, fmt.Sprintf("%s, %d writes", tt.name, len(writes)), err, tt.want)
			}
		}
		if rows := b.partition(t, key.SessionPK("s")); rows != nil {
			t.Errorf("rows %v are there", rows)
		}
	})
}
