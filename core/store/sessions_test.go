package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// log writes events a to j in rows of different lengths, one of them in parts.
func (b bench) log(t *testing.T) []string {
	t.Helper()
	large := strings.Repeat("f", 400_000)
	rows := [][]string{{"a"}, {"b", "c", "d"}, {"e", large, "g"}, {"h"}, {"i", "j"}}
	index, all := int64(0), []string{}
	for i, texts := range rows {
		b.commit(t, store.NewEvents("s", session.Me{Owner: "o", Fence: int64(i)}, events(index, texts...), b.clock.Now().Add(session.RowLife).Unix()))
		index += int64(len(texts))
		all = append(all, texts...)
	}
	return all
}

func TestEventsAreReadFromAnyIndex(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		if got := b.read(t, "s", 0); got != nil {
			t.Errorf("events of no session: %v", got)
		}
		all := b.log(t)
		for from := range len(all) + 1 {
			if diff := cmp.Diff(all[from:], b.read(t, "s", int64(from)), ignoreEmpty); diff != "" {
				t.Errorf("from %d (-want +got):\n%.300s", from, diff)
			}
		}
		if diff := cmp.Diff(all, b.read(t, "s", -5)); diff != "" {
			t.Errorf("from -5 (-want +got):\n%.300s", diff)
		}
		for _, from := range []int64{999_999_999_999, 1_000_000_000_000, 1<<63 - 1} {
			if got := b.read(t, "s", from); got != nil {
				t.Errorf("from %d: %d events, want none", from, len(got))
			}
			if rows, err := b.EventRows(t.Context(), "none", from); err != nil || rows != nil {
				t.Errorf("EventRows(%d) = %v, %v; want none", from, rows, err)
			}
		}
	})
}

func TestReadingEventsMayStop(t *testing.T) {
	b := openFake(t)
	b.log(t)
	for e := range b.SessionEvents(t.Context(), "s", 2) {
		if e.Index == 3 {
			break
		}
	}
}

func TestEventsOverManyPages(t *testing.T) {
	b := openFake(t)
	all := b.log(t)
	b.limitPages(1)
	for from := range len(all) {
		if got := b.read(t, "s", int64(from)); len(got) != len(all)-from {
			t.Errorf("from %d: %d events, want %d", from, len(got), len(all)-from)
		}
	}
}

func TestEventRows(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		b.log(t)
		rows, err := b.EventRows(t.Context(), "s", 4)
		if err != nil {
			t.Fatal(err)
		}
		expires := b.clock.Now().Add(session.RowLife).Unix()
		want := []store.EventRow{
			{Index: 4, Count: 3, Owner: "o", Fence: 2, ExpiresAt: expires}, {Index: 7, Count: 1, Owner: "o", Fence: 3, ExpiresAt: expires},
			{Index: 8, Count: 2, Owner: "o", Fence: 4, ExpiresAt: expires},
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("EventRows (-want +got):\n%s", diff)
		}
		one, err := b.EventRow(t.Context(), "s", 7)
		if diff := cmp.Diff(want[1], one); diff != "" || err != nil {
			t.Errorf("EventRow(7): %v (-want +got):\n%s", err, diff)
		}
		_, err = b.EventRow(t.Context(), "s", 5)
		wants(t, "EventRow inside of a row", err, fault.NotFound)
		wants(t, "a second row 7", b.Commit(t.Context(), store.NewEvents("s", session.Me{Owner: "o2", Fence: 9}, events(7, "z"), 1)), fault.Conflict)
	})
}

// list reads all pages of limit entries and gives the ids, and how many pages there were.
func (b bench) list(t *testing.T, limit int) (ids []string, pages int) {
	t.Helper()
	after := ""
	for {
		list, next, err := b.Sessions(t.Context(), "user", "user-1", after, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > limit {
			t.Errorf("a page of %d, the limit is %d", len(list), limit)
		}
		for _, l := range list {
			ids = append(ids, l.SessionID)
		}
		if pages++; next == "" {
			return ids, pages
		}
		after = next
	}
}

func TestP23ListingSkipsWhatIsOver(t *testing.T) {
	for _, pageItems := range []int{0, 1, 3} {
		b := openFake(t)
		var want []string
		for i := range 23 {
			now := b.clock.Advance(time.Second)
			s := session.New(fmt.Sprintf("s-%02d", i), session.Chat, user, now)
			if i%4 != 0 && (i < 8 || i > 14) {
				want = append(want, s.SessionID)
			} else {
				s.ExpiresAt = now.Unix()
			}
			b.commit(t, store.PutListing(s, "Demo"))
			other := session.New("other", session.Chat, task.User("user-10"), now)
			b.commit(t, store.PutListing(other, ""))
		}
		b.clock.Advance(time.Second)
		slices.Reverse(want)
		b.limitPages(pageItems)
		for _, limit := range []int{1, 2, 7, len(want), 100} {
			got, pages := b.list(t, limit)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d rows a page, limit %d (-want +got):\n%s", pageItems, limit, diff)
			}
			if most := len(want)/limit + 2; pages > most {
				t.Errorf("%d rows a page, limit %d: %d pages, want at most %d", pageItems, limit, pages, most)
			}
		}
	}
}

func TestListing(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		first := session.New("s#1", session.Chat, user, b.clock.Now())
		second := session.New("s-2", session.Chat, user, b.clock.Advance(time.Hour))
		b.commit(t, store.PutListing(first, "Demo: é"), store.PutListing(second, ""))
		list, next, err := b.Sessions(t.Context(), "user", "user-1", "", 2)
		want := []store.Listed{{SessionID: "s-2", CreatedAt: time.UnixMilli(second.CreatedAt)}, {SessionID: "s#1", Title: "Demo: é", CreatedAt: time.UnixMilli(first.CreatedAt)}}
		if diff := cmp.Diff(want, list); diff != "" || next != "" || err != nil {
			t.Errorf("Sessions: next %q, %v (-want +got):\n%s", next, err, diff)
		}
		b.commit(t, store.DropListing(first))
		b.commit(t, store.DropListing(first))
		if ids, _ := b.list(t, 5); !slices.Equal(ids, []string{"s-2"}) {
			t.Errorf("after DropListing: %v", ids)
		}
	})
}

// due gives what is due in all shards, sorted.
func (b bench) due(t *testing.T, before time.Time, limit int) []string {
	t.Helper()
	var all []string
	for shard := range key.DueShards {
		keys, err := b.Due(t.Context(), shard, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) > limit {
			t.Errorf("shard %d: %d keys, the limit is %d", shard, len(keys), limit)
		}
		for _, k := range keys {
			all = append(all, k.PK+" "+k.SK)
		}
	}
	slices.Sort(all)
	return all
}

func TestDueIsSparseAndByTime(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		now := b.clock.Now()
		var want []string
		for i := range 40 {
			s := session.New(fmt.Sprintf("s-%02d", i), session.Chat, user, now)
			switch i % 3 {
			case 0: // owes nothing
			case 1:
				s = s.With(now)
				want = append(want, "SESSION#"+s.SessionID+" STATE")
			case 2:
				s = s.With(now.Add(time.Hour))
			}
			b.commit(t, store.NewState(s))
		}
		first := now.Add(session.Lease + session.Margin)
		if got := b.due(t, first.Add(-time.Millisecond), 100); got != nil {
			t.Errorf("due a moment earlier: %v", got)
		}
		if diff := cmp.Diff(want, b.due(t, first, 100)); diff != "" {
			t.Errorf("due then (-want +got):\n%s", diff)
		}
		if _, err := b.CreateTask(t.Context(), task.Request{TaskID: "t", Principal: user, Request: "x"}); err != nil {
			t.Fatal(err)
		}
		want = append(want, "TASK#t DISPATCH", "TASK#t STATUS")
		if diff := cmp.Diff(want, b.due(t, now.Add(time.Minute), 100)); diff != "" {
			t.Errorf("due in a minute (-want +got):\n%s", diff)
		}
		if got := b.due(t, now.Add(2*time.Hour), 1); len(got) == 0 || len(got) > key.DueShards {
			t.Errorf("with a limit of one for each shard: %v", got)
		}
	})
}

// The index may show what is over, and miss what is new: the row itself decides, and the next look finds it.
func TestDueOfAnIndexThatLags(t *testing.T) {
	b := openFake(t)
	now := b.clock.Now()
	s := session.New("s", session.Chat, user, now).With(now)
	b.commit(t, store.NewState(s))
	b.raw.API.(*fake.Dynamo).IndexLag = 1
	if got := b.due(t, now.Add(time.Hour), 10); got != nil {
		t.Errorf("a lagging index shows %v", got)
	}
	b.commit(t, store.NewMessage("s", store.Message{Number: 1}))
	if got := b.due(t, now.Add(time.Hour), 10); len(got) != 1 {
		t.Errorf("a moment later it shows %v, want the session", got)
	}
}

func (b bench) fillSession(t *testing.T, sessionID string) {
	t.Helper()
	now := b.clock.Now()
	b.commit(t, store.NewState(session.New(sessionID, session.Chat, user, now)), store.NewConfig(session.Config{SessionID: sessionID, UserID: "u"}, now))
	for n := range int64(30) {
		b.commit(t, store.NewMessage(sessionID, store.Message{Number: n, DeliveryID: fmt.Sprint(n)}),
			store.NewDelivery(contract.Delivery{SessionID: sessionID, DeliveryID: fmt.Sprint(n)}, now.Unix(), now.Add(time.Hour).Unix()),
			store.NewEvents(sessionID, session.Me{}, events(n, "e"), now.Unix()))
	}
	b.commit(t, store.NewEvents(sessionID, session.Me{}, events(30, strings.Repeat("x", 800_000)), now.Unix()))
}

func TestPurge(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		b.fillSession(t, "s")
		b.fillSession(t, "s2")
		neighbour := len(b.partition(t, key.SessionPK("s2")))
		var told []int64
		p := store.Purging{
			Keep:   func(sk string) bool { return sk == key.ConfigSK },
			Before: func(_ context.Context, m store.Message) error { told = append(told, m.Number); return nil },
		}
		for range 2 {
			if err := b.Purge(t.Context(), "s", p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"CONFIG", "STATE"}, b.partition(t, key.SessionPK("s"))); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		}
		if len(told) != 30 || told[0] != 0 || told[29] != 29 {
			t.Errorf("told of messages %v, want 0 to 29 once", told)
		}
		if n := len(b.partition(t, key.SessionPK("s2"))); n != neighbour {
			t.Errorf("another session has %d rows, want %d", n, neighbour)
		}
	})
}

func TestPurgeStopsWhenAMessageCannotBeToldOf(t *testing.T) {
	b := openFake(t)
	b.fillSession(t, "s")
	down := fault.New(fault.Unavailable, "down")
	err := b.Purge(t.Context(), "s", store.Purging{Before: func(_ context.Context, m store.Message) error {
		if m.Number == 3 {
			return down
		}
		return nil
	}})
	left, _ := b.Inbox(t.Context(), "s", 0, 99)
	if !errors.Is(err, down) || len(left) != 27 || left[0].Number != 3 {
		t.Errorf("Purge = %v with %d messages left, want the cause and 27 from number 3", err, len(left))
	}
}

// A purge of a dead session removes nothing once the id has begun anew.
func TestADeadSessionsPurge(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		b.fillSession(t, "s")
		before := len(b.partition(t, key.SessionPK("s")))
		wants(t, "Purge of one that lives", b.Purge(t.Context(), "s", store.Purging{Dead: true}), fault.Conflict)
		if n := len(b.partition(t, key.SessionPK("s"))); n != before {
			t.Errorf("%d rows are left of %d", n, before)
		}
		removeRow(t, b, key.State("s"))
		if err := b.Purge(t.Context(), "s", store.Purging{Dead: true}); err != nil {
			t.Fatal(err)
		}
		if rows := b.partition(t, key.SessionPK("s")); rows != nil {
			t.Errorf("rows %v are left", rows)
		}
	})
}
