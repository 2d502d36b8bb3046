package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func says(text string) model.Message { return model.Text(model.User, text) }

// spoken is what was said, in one line, and the error.
func spoken(h snapshot.History, err error) string {
	var texts []string
	for _, m := range h.Messages {
		texts = append(texts, m.PlainText())
	}
	if err != nil {
		texts = append(texts, string(fault.CodeOf(err)), fault.ReasonOf(err))
	}
	return strings.Join(texts, " ")
}

// TestConversation: what a program appends is there, in order; who is late is refused and leaves nothing.
func TestConversation(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := t.Context()
		none, err := b.Conversation(ctx, "s")
		if spoken(none, err) != "" || none.Tip != "" {
			t.Fatalf("before anything was said: %+v, %v", none, err)
		}
		one, err := b.Extend(ctx, "s", none, says("one"), says("two"))
		if got := spoken(one, err); got != "one two" {
			t.Errorf("after the first: %q", got)
		}
		if got := spoken(b.Extend(ctx, "s", none, says("late"))); got != "conflict " {
			t.Errorf("an append to what has moved on: %q", got)
		}
		two, err := b.Extend(ctx, "s", one, says("three"))
		if got := spoken(two, err); got != "one two three" {
			t.Errorf("after the second: %q", got)
		}
		read, err := b.Conversation(ctx, "s")
		if got := spoken(read, err); got != "one two three" || read.Tip != two.Tip {
			t.Errorf("read: %q up to %s, want it up to %s", got, read.Tip, two.Tip)
		}
		b.clock.Advance(session.Life) // nobody has spoken for so long that the pointer is over
		if got := spoken(b.Conversation(ctx, "s")); got != "" {
			t.Errorf("after its time: %q", got)
		}
		anew, err := b.Extend(ctx, "s", snapshot.History{}, says("anew"))
		if got := spoken(anew, err); got != "anew" {
			t.Errorf("begun anew: %q", got)
		}
	})
}

// TestConversationOfTheFunctions: from the row STATE on nobody but the functions appends.
func TestConversationOfTheFunctions(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := t.Context()
		h, err := b.Extend(ctx, "s", snapshot.History{}, says("one"))
		if err != nil {
			t.Fatal(err)
		}
		s := session.New("s", session.Chat, task.User("ada"), b.clock.Now())
		b.commit(t, store.NewState(s))
		if got := spoken(b.Conversation(ctx, "s")); got != "conflict hosted" {
			t.Errorf("read: %q", got)
		}
		if got := spoken(b.Extend(ctx, "s", h, says("two"))); got != "one conflict hosted" {
			t.Errorf("appended: %q", got)
		}
		if got := spoken(b.Written(ctx, "s")); got != "one" {
			t.Errorf("what the functions go on with: %q", got)
		}
		b.clock.Advance(session.Life + time.Second)
		if got := spoken(b.Extend(ctx, "s", snapshot.History{}, says("anew"))); got != "anew" {
			t.Errorf("after the session's time: %q", got)
		}
	})
}

// TestConversationOfThePackage: its one snapshot becomes a whole segment with the first append; state and order are kept.
func TestConversationOfThePackage(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx, now := t.Context(), b.clock.Now()
		theirs := snapshot.Strands{Messages: []model.Message{says("one")}, State: []byte(`{"k":1}`), CreatedAt: now}
		b.commit(t, store.PutPackageSnapshot("s", "", theirs, now), store.PutLatest("s", store.PackageSnapshotID, now))
		h, err := b.Conversation(ctx, "s")
		if got := spoken(h, err); got != "one" || h.Tip != store.PackageSnapshotID {
			t.Fatalf("read: %q up to %q", got, h.Tip)
		}
		h, err = b.Extend(ctx, "s", h, says("two"))
		if err != nil {
			t.Fatal(err)
		}
		read, err := b.Conversation(ctx, "s")
		if diff := cmp.Diff(h.Messages, read.Messages); diff != "" || err != nil || string(read.State) != `{"k":1}` || spoken(read, nil) != "one two" {
			t.Errorf("after an append: %v, state %s (-want +got):\n%s", err, read.State, diff)
		}
		b.commit(t, store.PutLatest("t", store.PackageSnapshotID, now)) // a pointer that outlived its snapshot
		gone, err := b.Conversation(ctx, "t")
		if got := spoken(gone, err); got != "" {
			t.Errorf("a snapshot that is gone: %q", got)
		}
		if got := spoken(b.Extend(ctx, "t", gone, says("anew"))); got != "anew" {
			t.Errorf("begun anew: %q", got)
		}
	})
}

// TestConversationOfAnySize: what is said may be larger than a row.
func TestConversationOfAnySize(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		long := make([]byte, 1<<20)
		dice := rand.NewChaCha8([32]byte{})
		for i := range long {
			long[i] = 'a' + byte(dice.Uint64()%26) // nothing that deflates well
		}
		h, err := b.Extend(t.Context(), "s", snapshot.History{}, says(string(long)))
		if err != nil {
			t.Fatal(err)
		}
		if read, err := b.Conversation(t.Context(), "s"); err != nil || read.Tip != h.Tip || read.Messages[0].PlainText() != string(long) {
			t.Errorf("%d messages, %v", len(read.Messages), err)
		}
	})
}

// TestExtendWhoseAnswerIsLost: what was written counts as written, what was not is an error.
func TestExtendWhoseAnswerIsLost(t *testing.T) {
	for _, mode := range []fake.Mode{fake.LoseAnswer, fake.Fail} {
		dynamo := fake.NewDynamo("mine")
		dynamo.World = &fake.World{}
		table := store.Table{Name: "mine", DynamoDB: dynamo, Now: fake.Start}
		dynamo.World.Disturb(fake.Disturbance{At: 1, Mode: mode, Err: fake.ErrThrottled})
		h, err := table.Extend(t.Context(), "s", snapshot.History{}, says("one"))
		read, readErr := table.Conversation(t.Context(), "s")
		if written := spoken(read, readErr) == "one"; written != (err == nil) || written != (h.Tip != "") || written != (mode == fake.LoseAnswer) {
			t.Errorf("%v: %q, %v; there is %q", mode, spoken(h, nil), err, spoken(read, readErr))
		}
	}
}

// TestTableOfTheEnvironment: a table without a name is the one that TABLE_NAME names.
func TestTableOfTheEnvironment(t *testing.T) {
	t.Setenv("TABLE_NAME", "mine")
	dynamo := fake.NewDynamo("mine")
	if _, err := (store.Table{DynamoDB: dynamo}).Extend(t.Context(), "s", snapshot.History{}, says("one")); err != nil {
		t.Fatal(err)
	}
	if got := spoken(store.Table{Name: "mine", DynamoDB: dynamo}.Conversation(t.Context(), "s")); got != "one" {
		t.Errorf("the named table has %q", got)
	}
}

// TestWithdraw: of what was said nothing is left but what is kept, whatever its size, and the conversation goes on.
func TestWithdraw(t *testing.T) {
	for _, keep := range []int{0, 1, 2, 3} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			each(t, func(t *testing.T, b bench) {
				ctx := t.Context()
				h, err := b.Extend(ctx, "s", snapshot.History{}, says("one"))
				for _, text := range []string{"two", long(), "four"} {
					if err == nil {
						h, err = b.Extend(ctx, "s", h, says(text))
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				earlier := h
				if err := b.Withdraw(ctx, "s", h, keep); err != nil {
					t.Fatal(err)
				}
				wants(t, "again", b.Withdraw(ctx, "s", earlier, keep), fault.Conflict)
				h, err = b.Conversation(ctx, "s")
				if err != nil || len(h.Messages) != keep {
					t.Fatalf("%d messages are left, %v", len(h.Messages), err)
				}
				if h, err = b.Extend(ctx, "s", h, says("and on")); err != nil || len(h.Messages) != keep+1 {
					t.Errorf("it goes on with %d messages, %v", len(h.Messages), err)
				}
				for _, row := range b.partition(t, key.SessionPK("s")) {
					if keep < 3 && strings.Contains(row, "PART#") {
						t.Errorf("a part is left: %s", row)
					}
				}
			})
		})
	}
}

// TestWithdrawOfThePackage: what the package wrote stays where it is, and the pointer leads to what is kept of it.
func TestWithdrawOfThePackage(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx, now := t.Context(), b.clock.Now()
		theirs := snapshot.Strands{Messages: []model.Message{says("one"), model.Text(model.Assistant, "two")}, State: []byte(`{"k":1}`), CreatedAt: now}
		b.commit(t, store.PutPackageSnapshot("s", "", theirs, now), store.PutLatest("s", store.PackageSnapshotID, now))
		h, err := b.Conversation(ctx, "s")
		if err == nil {
			err = b.Withdraw(ctx, "s", h, 1)
		}
		left, readErr := b.Conversation(ctx, "s")
		if got := spoken(left, errors.Join(err, readErr)); got != "one" || string(left.State) != `{"k":1}` {
			t.Errorf("left: %q, state %s", got, left.State)
		}
	})
}

// TestTwoProgramsExtend: of two that go on from the same words the later is refused.
func TestTwoProgramsExtend(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := t.Context()
		h, err := b.Extend(ctx, "s", snapshot.History{}, says("one"))
		if err != nil {
			t.Fatal(err)
		}
		if got := spoken(b.Extend(ctx, "s", h, says("two"))); got != "one two" {
			t.Errorf("the first: %q", got)
		}
		if got := spoken(b.Extend(ctx, "s", h, says("three"))); got != "one conflict " {
			t.Errorf("the second: %q", got)
		}
		if got := spoken(b.Conversation(ctx, "s")); got != "one two" {
			t.Errorf("kept: %q", got)
		}
	})
}
