package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/store"
)

// A firing is claimed by one, started by that one, and over for everybody; the sweep finds it by its due time.
func TestFiringRows(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		now := b.clock.Now()
		first := schedule.FiringRow{ScheduleID: "a", At: now.UnixMilli(), Manual: true}.ClaimFirst("w-1", now)
		wants(t, "the first claim", b.Commit(t.Context(), b.NewFiring(first)), "")
		err := b.Commit(t.Context(), b.NewFiring(schedule.FiringRow{ScheduleID: "a", At: now.UnixMilli()}.ClaimFirst("w-2", now)))
		if wants(t, "another's", err, fault.Conflict); !store.RefusedBy(err, first.Key()) {
			t.Errorf("%v does not say that the firing refused", err)
		}
		got, err := b.Firing(t.Context(), first.Key())
		if diff := cmp.Diff(first, got); diff != "" || err != nil {
			t.Errorf("%v, row (-want +got):\n%s", err, diff)
		}
		other := first
		other.Owner = "w-2"
		wants(t, "a start by another", b.Commit(t.Context(), store.ChangeFiring(other.Start(time.Minute, now))), fault.Conflict)
		started := first.Start(time.Minute, now)
		wants(t, "the start", b.Commit(t.Context(), store.ChangeFiring(started)), "")
		wants(t, "the start again", b.Commit(t.Context(), store.ChangeFiring(started)), fault.Conflict)
		late := now.Add(time.Hour)
		claim, ok := first.Claim("w-3", late)
		if wants(t, "a claim of what has started", b.Commit(t.Context(), store.ChangeFiring(claim)), fault.Conflict); !ok {
			t.Error("as it was read it could be claimed")
		}
		if due := dueKeys(t, b, late); !cmp.Equal(due, []key.Key{key.Firing("a", now.UnixMilli())}) {
			t.Errorf("due: %v", due)
		}
		wants(t, "the end", b.Commit(t.Context(), store.ChangeFiring(started.To.End([]string{"s"}, "boom"))), "")
		if due := dueKeys(t, b, late); len(due) > 0 {
			t.Errorf("due after the end: %v", due)
		}
		if got, err := b.Firing(t.Context(), first.Key()); err != nil || got.Status != schedule.FiringDone || got.Error != "boom" || got.Owner != "" {
			t.Errorf("the end = %+v, %v", got, err)
		}
		b.clock.Advance(schedule.FiringLife + time.Second)
		_, err = b.Firing(t.Context(), first.Key())
		wants(t, "a week later", err, fault.NotFound)
		wants(t, "anew in its place", b.Commit(t.Context(), b.NewFiring(schedule.Began("a", now, "s", b.clock.Now()))), "")
	})
}

// dueKeys lists what is due.
func dueKeys(t *testing.T, b bench, at time.Time) []key.Key {
	t.Helper()
	var all []key.Key
	for shard := range key.DueShards {
		keys, err := b.Due(t.Context(), shard, at, 10)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, keys...)
	}
	return all
}

// What was asked of a name counts in the order of the asking, and once; workers take turns.
func TestAsked(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		at := b.clock.Now()
		later := at.Add(time.Second)
		asking := func(name, event, owner string, at time.Time) store.Asking {
			return store.Asking{Name: name, EventID: event, At: at, Owner: owner, Lease: 40 * time.Second}
		}
		steps := []struct {
			event, owner string
			at           time.Time
			passes       time.Duration // before
			want         store.Turn
			answered     bool
		}{
			{"e-1", "w1", at, 0, store.TurnNow, false},
			{"e-1", "w1", at, 0, store.TurnNow, false},  // its answer was lost
			{"e-1", "w2", at, 0, store.TurnWait, false}, // a copy at the same moment
			{"e-2", "w3", at, 0, store.TurnWait, false},
			{"e-3", "w4", later, 0, store.TurnWait, false},
			{"e-1", "w5", at, time.Minute, store.TurnNow, true}, // the first worker died
			{"e-1", "w6", at, 0, store.TurnPast, false},         // a copy
			{"e-2", "w7", at, 0, store.TurnNow, true},           // in the same second
			{"e-3", "w8", later, 0, store.TurnNow, false},
			{"e-1", "w9", at, 0, store.TurnPast, false}, // also while the later one is at it
			{"e-4", "w10", later, time.Minute, store.TurnNow, true},
			{"e-2", "w11", at, 0, store.TurnPast, false},
		}
		for i, s := range steps {
			b.clock.Advance(s.passes)
			got, err := b.Ask(t.Context(), asking("pr:1", s.event, s.owner, s.at))
			if err != nil || got != s.want {
				t.Errorf("%d: Ask(%s) = %s, %v, want %s", i, s.event, got, err, s.want)
			}
			if s.answered {
				wants(t, "Answered", b.Answered(t.Context(), "pr:1", s.owner), "")
			}
		}
		wants(t, "an answer of who was overtaken", b.Answered(t.Context(), "pr:1", "w1"), "")
		if turn, err := b.Ask(t.Context(), asking("pr:2", "e-1", "w1", at)); err != nil || turn != store.TurnNow {
			t.Errorf("another name = %s, %v", turn, err)
		}
		b.clock.Advance(50 * time.Hour)
		if turn, err := b.Ask(t.Context(), asking("pr:1", "e-0", "w0", at)); err != nil || turn != store.TurnNow {
			t.Errorf("after its time = %s, %v", turn, err)
		}
	})
}

// TestAskedBefore: what the program wrote before workers took turns names nobody who is at it, so nobody waits for one.
func TestAskedBefore(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		at := b.clock.Now()
		for i, event := range []string{"e-1", "e-2"} { // the same again, and a later one
			name := fmt.Sprint("pr:", i)
			k := key.Asked(name)
			_, err := b.raw.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.Name, Item: row{
				key.PK: text(k.PK), key.SK: text(k.SK), "entity": text("Asked"), "at": number(fmt.Sprint(at.UnixMilli())), "eventId": text("e-1"),
				"done": &types.AttributeValueMemberBOOL{}, "expiresAt": number(fmt.Sprint(at.Add(time.Hour).Unix())),
			}})
			wants(t, "put", err, "")
			asking := store.Asking{Name: name, EventID: event, At: at.Add(time.Duration(i) * time.Second), Owner: "w", Lease: time.Minute}
			if turn, err := b.Ask(t.Context(), asking); err != nil || turn != store.TurnNow {
				t.Errorf("Ask(%s) = %s, %v, want %s", event, turn, err, store.TurnNow)
			}
		}
	})
}

func TestContinuation(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ends := b.clock.Now().Add(time.Hour).Unix()
		one, two := store.Continuation{SessionID: "s-1", ExpiresAt: ends}, store.Continuation{SessionID: "s-2", ExpiresAt: ends}
		put := func(was, to store.Continuation) error {
			return b.Commit(t.Context(), b.PutContinuation("gh", "pr:1", was, to))
		}
		_, err := b.Continuation(t.Context(), "gh", "pr:1")
		wants(t, "none", err, fault.NotFound)
		wants(t, "the first", put(store.Continuation{}, one), "")
		wants(t, "who was slower", put(store.Continuation{}, two), fault.Conflict)
		if got, err := b.Continuation(t.Context(), "gh", "pr:1"); err != nil || got != one {
			t.Errorf("Continuation = %+v, %v", got, err)
		}
		wants(t, "elsewhere", put(one, two), "")
		wants(t, "from where it led", put(one, two), fault.Conflict)
		wants(t, "dropped for the first", b.DropContinuation(t.Context(), "gh", "pr:1", "s-1"), "")
		if got, err := b.Continuation(t.Context(), "gh", "pr:1"); err != nil || got != two {
			t.Errorf("Continuation = %+v, %v", got, err)
		}
		wants(t, "dropped", b.DropContinuation(t.Context(), "gh", "pr:1", "s-2"), "")
		wants(t, "dropped again", b.DropContinuation(t.Context(), "gh", "pr:1", "s-2"), "")
		_, err = b.Continuation(t.Context(), "gh", "pr:1")
		wants(t, "nowhere", err, fault.NotFound)
		wants(t, "and somewhere", put(store.Continuation{}, two), "")
		b.clock.Advance(2 * time.Hour)
		_, err = b.Continuation(t.Context(), "gh", "pr:1")
		wants(t, "over", err, fault.NotFound)
		wants(t, "the next first", put(store.Continuation{}, store.Continuation{SessionID: "s-3", ExpiresAt: b.clock.Now().Add(time.Hour).Unix()}), "")
	})
}
