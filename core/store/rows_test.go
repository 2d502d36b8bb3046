package store_test

import (
	"strings"
	"testing"
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

func ptr[T any](v T) *T { return &v }

var (
	user   = task.User("user-1")
	always = cond.Or(cond.Absent("pk"), cond.Exists("pk"))
)

// fullState has a value in every field.
func fullState(now time.Time) session.State {
	s := session.New("s-1", session.Chat, user, now)
	s.Phase, s.Channel, s.CreatedBy, s.Token = session.Open, "slack", "call-1", "tok"
	s.Owner, s.Fence, s.LeaseUntil = "o-1", 3, now.Add(session.Lease).UnixMilli()
	s.Admitted, s.Taken, s.TurnSeq, s.Seen, s.StopSeq, s.PreemptSeq, s.Step, s.NextIndex = 9, 8, 7, 6, 5, 4, 3, 1<<53+1
	s.Spent = session.Spent{In: 1, Out: 2, Read: 3, Written: 4}
	s.Tries, s.Tip, s.Task, s.Queued, s.Outcome = 2, "tip", &session.TaskRef{ID: "t", Fence: 1}, true, "failed"
	s.PublishedTo, s.ApprovalsOpen, s.ApprovalUntil = 1, 2, 3
	s.DuePK, s.DueSK = "DUE#01", "0000000000001"
	return s
}

func fullTask(now time.Time) task.Task {
	return task.Task{
		TaskID: "t-1", Status: task.Failed, Principal: user, Request: "do it", SessionID: "s-1", CreatedBy: "user-2", Output: "out", Error: "boom",
		CreatedAt: now.UnixMilli(), UpdatedAt: now.UnixMilli() + 1, ExpiresAt: now.Add(task.Life).Unix(), Detail: `{"taskId":"t-1"}`, Owner: "o", Fence: 2,
		LeaseUntil: 5, Attempt: 1, LastDelivery: "d", FailedBy: []string{"d0", "d"}, Retryable: true, Cancelled: true, CompletionOwed: 2, Session: "s-2",
		Turn: 4, Rejects: 1, DuePK: "DUE#01", DueSK: "0000000000001",
	}
}

func TestStateComesBackEqual(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		now := b.clock.Now()
		for _, want := range []session.State{fullState(now), session.New("s-2", session.TaskRun, task.System("x"), now)} {
			b.commit(t, store.NewState(want))
			got, err := b.State(t.Context(), want.SessionID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("State (-want +got):\n%s", diff)
			}
		}
		_, err := b.State(t.Context(), "none")
		wants(t, "State of no session", err, fault.NotFound)
	})
}

// Every field, also a reserved word, can be changed and removed by a transition.
func TestAStateChangesInEveryField(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		full, bare := fullState(b.clock.Now()), session.State{SessionID: "s-1", Mode: session.TaskRun, Phase: session.Idle}
		b.commit(t, store.NewState(full))
		for _, c := range []session.Change{{From: full, To: bare}, {From: bare, To: full}} {
			c.If = cond.Eq("mode", c.From.Mode)
			b.commit(t, store.ChangeState(c))
			got, err := b.State(t.Context(), "s-1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.To, got); diff != "" {
				t.Errorf("changed (-want +got):\n%s", diff)
			}
		}
	})
}

func TestTaskComesBackEqual(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		want := fullTask(b.clock.Now())
		b.commit(t, store.ChangeTask(task.Change{To: want, If: always}))
		got, err := b.Task(t.Context(), "t-1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Task (-want +got):\n%s", diff)
		}
		bare := task.Task{TaskID: "t-1", Status: task.Pending, ExpiresAt: want.ExpiresAt}
		b.commit(t, store.ChangeTask(task.Change{From: got, To: bare, If: always}))
		if got, _ := b.Task(t.Context(), "t-1"); cmp.Diff(bare, got) != "" {
			t.Errorf("changed (-want +got):\n%s", cmp.Diff(bare, got))
		}
	})
}

// An empty list stays empty, a missing one missing; numbers keep their value and reserved words are only names.
func TestP24ConfigComesBackEqual(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		tests := []struct {
			name string
			want session.Config
		}{
			{"full", session.Config{UserID: "user-1", Title: "Demo: é 😀 \"<\n", SystemPrompt: "You are terse.", ModelID: "m", Temperature: ptr(0.1), MaxTokens: 512,
				Tools: []string{"notebook"}, MCPServers: map[string]contract.MCPServer{"status": {URL: "https://x.example", Headers: map[string]string{"ttl": "1"},
					AuthHeader: &contract.AuthHeader{Name: "x", Value: ""}, Disabled: true}}}},
			{"no tools", session.Config{UserID: "user-1", Tools: []string{}}},
			{"the host's tools", session.Config{UserID: "user-1"}},
			{"temperature zero", session.Config{UserID: "user-1", Temperature: ptr(0.0)}},
		}
		for _, tt := range tests {
			tt.want.SessionID = strings.ReplaceAll(tt.name, " ", "-")
			if _, err := b.CreateSession(t.Context(), tt.want); err != nil {
				t.Fatal(err)
			}
			got, expires, err := b.Config(t.Context(), tt.want.SessionID)
			if err != nil || expires != b.clock.Now().Add(session.Life).Unix() {
				t.Errorf("%s: expires %d, error %v", tt.name, expires, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		made, err := b.CreateSession(t.Context(), session.Config{UserID: "u"})
		if err != nil || len(made.SessionID) != 36 {
			t.Errorf("CreateSession without an id = %q, %v; want a UUID", made.SessionID, err)
		}
	})
}

func TestMessageAndDeliveryComeBackEqual(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		now := b.clock.Now()
		first := store.Message{Number: 9, DeliveryID: "d-9", Text: "Hello 😀", Admission: contract.Preempt, At: now.UnixMilli()}
		second := store.Message{Number: 10, DeliveryID: "d-10", Admission: contract.Coalesce, Task: &session.TaskRef{ID: "t", Fence: 2}}
		receipt := contract.Delivery{DeliveryID: "d-9", SessionID: "s-1", ContinuationToken: "tok"}
		b.commit(t, store.NewMessage("s-1", second), store.NewMessage("s-1", first), store.NewDelivery(receipt, now.Unix(), now.Add(time.Hour).Unix()))
		got, err := b.Inbox(t.Context(), "s-1", 1, 99)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]store.Message{first, second}, got); diff != "" {
			t.Errorf("Inbox (-want +got):\n%s", diff)
		}
		if got, err := b.Inbox(t.Context(), "s-1", 10, 9); err != nil || got != nil {
			t.Errorf("Inbox(10, 9) = %v, %v; want nothing", got, err)
		}
		if got, err := b.Inbox(t.Context(), "s-1", 10, 10); err != nil || len(got) != 1 || got[0].Number != 10 {
			t.Errorf("Inbox(10, 10) = %v, %v; want number 10", got, err)
		}
		if got, err := b.Delivery(t.Context(), "s-1", "d-9"); err != nil || got != receipt {
			t.Errorf("Delivery = %v, %v; want %v", got, err, receipt)
		}
		if diff := cmp.Diff(session.Waiting{Number: 9, Bytes: len("Hello 😀")}, first.Waiting()); diff != "" {
			t.Errorf("Waiting (-want +got):\n%s", diff)
		}
	})
}

func TestConnections(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx, now := t.Context(), b.clock.Now()
		c := store.Connection{ID: "c-1=", UserID: "user-1", ConnectedAt: now.UnixMilli(), Features: []string{"reset"}}
		if err := b.PutConnection(ctx, c); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"s-1", "s-2", "s-2"} {
			c, err := b.Connection(ctx, "c-1=")
			if err == nil {
				err = b.Subscribe(ctx, id, c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := b.Connection(ctx, "c-1=")
		want := c
		want.Sessions, want.ExpiresAt = []string{"s-1", "s-2"}, now.Add(2*time.Hour+10*time.Minute).Unix()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Connection: %v (-want +got):\n%s", err, diff)
		}
		want.Sessions = nil
		subscribers := func() []store.Connection {
			list, err := b.Subscribers(ctx, "s-1")
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		if diff := cmp.Diff([]store.Connection{want}, subscribers()); diff != "" {
			t.Errorf("Subscribers (-want +got):\n%s", diff)
		}
		wants(t, "Subscribe of one that is gone", b.Subscribe(ctx, "s-1", store.Connection{ID: "c-2", ConnectedAt: now.UnixMilli()}), fault.NotFound)
		for range 2 {
			if err := b.Disconnect(ctx, "c-1="); err != nil {
				t.Fatal(err)
			}
		}
		if list := append(subscribers(), got); len(list) != 1 || b.row(t, key.Connection("c-1=")) != nil || b.row(t, key.Subscriber("s-2", "c-1=")) != nil {
			t.Errorf("after Disconnect rows are left: %v", list)
		}
	})
}

func TestP23ExpiredRowsAreNotSeen(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx, now := t.Context(), b.clock.Now()
		if _, err := b.CreateSession(ctx, session.Config{SessionID: "s-1", UserID: "u"}); err != nil {
			t.Fatal(err)
		}
		c := store.Connection{ID: "c", UserID: "u", ConnectedAt: now.UnixMilli()}
		s := session.New("s-1", session.Chat, user, now)
		b.commit(t, store.NewDelivery(contract.Delivery{DeliveryID: "d", SessionID: "s-1"}, now.Unix(), now.Add(time.Hour).Unix()),
			store.PutListing(s, "Demo"), store.ChangeTask(task.Change{To: fullTask(now), If: always}), store.NewState(s))
		for _, err := range []error{b.PutConnection(ctx, c), b.Subscribe(ctx, "s-1", c), b.PutDetail(ctx, "x", "text")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		reads := map[string]func() error{
			"config":     func() error { _, err := b.SessionConfig(ctx, "s-1"); return err },
			"delivery":   func() error { _, err := b.Delivery(ctx, "s-1", "d"); return err },
			"connection": func() error { _, err := b.Connection(ctx, "c"); return err },
			"task":       func() error { _, err := b.Task(ctx, "t-1"); return err },
			"detail":     func() error { _, err := b.Detail(ctx, "x"); return err },
		}
		for name, read := range reads {
			wants(t, name+" in time", read(), "")
		}
		b.clock.Advance(31 * 24 * time.Hour)
		for name, read := range reads {
			wants(t, name+" when its time is over", read(), fault.NotFound)
		}
		if list, err := b.Subscribers(ctx, "s-1"); err != nil || len(list) != 0 {
			t.Errorf("Subscribers = %v, %v; want none", list, err)
		}
		if list, next, err := b.Sessions(ctx, "user", "user-1", "", 10); err != nil || len(list) != 0 || next != "" {
			t.Errorf("Sessions = %v, %q, %v; want none", list, next, err)
		}
		// What is over may be written anew, and only then.
		if _, err := b.CreateSession(ctx, session.Config{SessionID: "s-1", UserID: "other"}); err != nil {
			t.Errorf("CreateSession over an expired one = %v", err)
		}
		_, err := b.CreateSession(ctx, session.Config{SessionID: "s-1", UserID: "third"})
		wants(t, "CreateSession over a living one", err, fault.Conflict)
		later := b.clock.Now()
		b.commit(t, store.NewDelivery(contract.Delivery{DeliveryID: "d", SessionID: "s-1", ContinuationToken: "new"}, later.Unix(), later.Add(time.Hour).Unix()))
		err = b.Commit(ctx, store.NewDelivery(contract.Delivery{DeliveryID: "d", SessionID: "s-1"}, later.Unix(), later.Add(time.Hour).Unix()))
		if !store.RefusedDelivery(err, "s-1", "d") {
			t.Errorf("a second delivery = %v, want refused", err)
		}
		if _, err := b.CreateTask(ctx, task.Request{TaskID: "t-1", Principal: user, Request: "again", DeliveryID: "d9"}); err != nil {
			t.Errorf("CreateTask over an expired one = %v", err)
		}
		b.commit(t, store.DeleteExpiredState("s-1", later.Unix()), store.DeleteExpiredState("never-there", later.Unix()))
		b.commit(t, store.NewState(session.New("s-1", session.Chat, user, later)))
		wants(t, "DeleteExpiredState of a living one", b.Commit(ctx, store.DeleteExpiredState("s-1", later.Unix())), fault.Conflict)
	})
}

// A row of exactly now is over, a second later it is not yet.
func TestExpiryIsToTheSecond(t *testing.T) {
	b := openFake(t)
	at := b.clock.Now().Add(time.Hour)
	b.commit(t, store.NewDelivery(contract.Delivery{DeliveryID: "d", SessionID: "s"}, fake.Start().Unix(), at.Unix()))
	for _, tt := range []struct {
		now  time.Time
		want fault.Code
	}{{at.Add(-time.Millisecond), ""}, {at, fault.NotFound}} {
		b.clock.Set(tt.now)
		_, err := b.Delivery(t.Context(), "s", "d")
		wants(t, tt.now.String(), err, tt.want)
	}
}

func TestP24DetailKeepsEveryText(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for _, want := range []string{"", "null", `{"n":9007199254740993,"e":[],"m":{}}`, "é\x00😀\u2028"} {
			id := key.Hash(want)
			if err := b.PutDetail(t.Context(), id, want); err != nil {
				t.Fatal(err)
			}
			if got, err := b.Detail(t.Context(), id); err != nil || got != want {
				t.Errorf("Detail = %q, %v; want %q", got, err, want)
			}
		}
		_, err := b.Detail(t.Context(), "none")
		wants(t, "Detail of none", err, fault.NotFound)
	})
}

func TestKeepConfig(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		wants(t, "KeepConfig of none", b.Commit(t.Context(), store.KeepConfig("s", 5)), fault.Conflict)
		if _, err := b.CreateSession(t.Context(), session.Config{SessionID: "s", UserID: "u", Tools: []string{}}); err != nil {
			t.Fatal(err)
		}
		later := b.clock.Now().Add(90 * 24 * time.Hour).Unix()
		b.commit(t, store.KeepConfig("s", later))
		if c, expires, err := b.Config(t.Context(), "s"); err != nil || expires != later || c.Tools == nil || c.UserID != "u" {
			t.Errorf("Config = %v, %d, %v; want the same until %d", c, expires, err, later)
		}
	})
}

func TestCheckConfig(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		if _, err := b.CreateSession(t.Context(), session.Config{SessionID: "s", UserID: "u"}); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			id, user string
			want     fault.Code
		}{{"s", "u", ""}, {"s", "v", fault.Conflict}, {"s", "", fault.Conflict}, {"none", "", ""}, {"none", "u", fault.Conflict}} {
			wants(t, "CheckConfig("+tt.id+", "+tt.user+")", b.Commit(t.Context(), store.CheckConfig(tt.id, tt.user)), tt.want)
			wants(t, "CheckConfig in a transaction", b.Commit(t.Context(), store.CheckConfig(tt.id, tt.user), store.CheckNoState("nobody")), tt.want)
		}
	})
}
