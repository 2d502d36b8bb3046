package flow_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// slowly makes every removal of a row take a second, and gives the session some rows.
func slowly(t *testing.T, ctx context.Context, s *stage.Stage, rows int) {
	t.Helper()
	_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "call")
	must(t, err)
	for n := range rows {
		must(t, s.Edges.Table.PutFile(ctx, id, fmt.Sprint("file", n), "x", 0))
	}
	s.Watch.Before = func(call string) {
		if call == "DeleteItem" {
			time.Sleep(time.Second)
		}
	}
}

// left are the rows of the session beside its tombstone.
func left(s *stage.Stage) int { return len(s.Dynamo.Items(key.SessionPK(id))) - 1 }

// TestADeletionThatTakesLongerThanItsCall is answered in time, and the session is gone at once; the sweep removes what is left.
func TestADeletionThatTakesLongerThanItsCall(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		slowly(t, ctx, s, 60)
		short, cancel := context.WithTimeout(ctx, 29*time.Second)
		defer cancel()
		must(t, remove(short, s, stage.User), short.Err())
		if n := left(s); n < 30 || n > 40 {
			t.Errorf("%d rows are left, want what 26 s have not removed", n)
		}
		if _, err := read(ctx, s); !fault.Is(err, fault.NotFound) {
			t.Errorf("the session reads %v", err)
		}
		for range 4 {
			must(t, s.Recover(ctx))
		}
		if n := left(s); n != 0 {
			t.Errorf("%d rows are left after the sweeps", n)
		}
	})
}

// TestALongDeletionKeepsNoSweepFromTheOthers: each session has its share of a sweep's time.
func TestALongDeletionKeepsNoSweepFromTheOthers(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		slowly(t, ctx, s, 200)
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		must(t, remove(short, s, stage.User))
		before := left(s)
		s.Clock.Advance(time.Minute)
		began := time.Now()
		_, err := s.Sweep(ctx)
		must(t, err)
		if took := time.Since(began); took < 10*time.Second || took > 20*time.Second || left(s) >= before {
			t.Errorf("the sweep took %s and left %d of %d rows", took, left(s), before)
		}
		if due := s.State(id).DueSK; due == "" {
			t.Error("the session is not due any more")
		}
		s.Clock.Advance(17 * time.Minute) // now it is to be forgotten, but not before all of it is gone
		_, err = s.Sweep(ctx)
		must(t, err)
		if due := s.State(id).DueSK; due == "" || left(s) == 0 {
			t.Errorf("%d rows left, due %q: it is forgotten too early", left(s), due)
		}
		for range 20 {
			must(t, s.Recover(ctx))
		}
		if due := s.State(id).DueSK; due != "" || left(s) != 0 {
			t.Errorf("%d rows left, due %q: it is never forgotten", left(s), due)
		}
	})
}

// TestADeletionAtTheEndOfASweep takes what is left of the sweep's time and not all of that: the sweep tells what it found.
func TestADeletionAtTheEndOfASweep(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		slowly(t, ctx, s, 60)
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		must(t, remove(short, s, stage.User))
		s.Clock.Advance(time.Minute)
		late, cancel := context.WithTimeout(ctx, 8*time.Second)
		defer cancel()
		began := time.Now()
		_, err := s.Sweep(late)
		must(t, err, late.Err())
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the sweep took %s of 8", took)
		}
	})
}

// TestNothingLeadsToADeletedConversation: its channel's key begins another, which an earlier one's deletion leaves alone.
func TestNothingLeadsToADeletedConversation(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say := func() string {
			got, err := flow.Receive{Edges: s.Edges}.Do(ctx, flow.ReceiveIn{Channel: "gh", Caller: stage.User, Message: contract.Message{Text: "hi", ContinuationToken: "pr:1"}})
			must(t, err)
			return got.SessionID
		}
		forget := func(sessionID string) {
			_, err := flow.DeleteSession{Edges: s.Edges}.Do(ctx, flow.SessionOf{SessionID: sessionID, Caller: stage.User})
			must(t, err)
		}
		first := say()
		forget(first)
		if rows := s.Dynamo.Items("CONTINUATION#"); len(rows) != 0 {
			t.Errorf("%d rows lead somewhere", len(rows))
		}
		second := say()
		forget(first)
		if third := say(); second == first || third != second {
			t.Errorf("the conversations are %s, %s, %s", first, second, third)
		}
	})
}
