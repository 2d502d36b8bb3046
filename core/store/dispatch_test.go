package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
)

func TestDispatch(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := t.Context()
		_, err := b.Dispatch(ctx, "t")
		wants(t, "Dispatch of none", err, fault.NotFound)
		if _, err := b.CreateTask(ctx, request("d-1")); err != nil {
			t.Fatal(err)
		}
		d, err := b.Dispatch(ctx, "t")
		if err != nil {
			t.Fatal(err)
		}
		at := b.clock.Now().Add(2 * time.Minute)
		if moved, err := b.Rearm(ctx, d, at); moved || err != nil {
			t.Errorf("Rearm = %v, %v; want done", moved, err)
		}
		if moved, err := b.Rearm(ctx, d, at); !moved || err != nil {
			t.Errorf("Rearm as it was = %v, %v; want moved", moved, err)
		}
		for range 2 { // the second refers to the same attempt and counts nothing
			if err := b.Reject(ctx, d); err != nil {
				t.Fatal(err)
			}
		}
		now, _ := b.Dispatch(ctx, "t")
		if now.Attempts != 1 || now.DueSK != key.DueSK(at.UnixMilli()) || now.Status != "owed" {
			t.Errorf("Dispatch = %+v, want one attempt, owed, due at %d", now, at.UnixMilli())
		}
		for range 2 {
			if err := b.MarkSent(ctx, now); err != nil {
				t.Fatal(err)
			}
		}
		sent, _ := b.Dispatch(ctx, "t")
		if sent.Status != "sent" || sent.DueSK != "" || sent.DuePK != "" || sent.Attempts != 1 {
			t.Errorf("Dispatch = %+v, want sent and not due", sent)
		}
		if moved, err := b.Rearm(ctx, now, at); !moved || err != nil {
			t.Errorf("Rearm of a sent one = %v, %v; want moved", moved, err)
		}
	})
}

func TestExhaust(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for _, arrived := range []bool{false, true} {
			id := fmt.Sprintf("t-%v", arrived)
			r := request("d-1")
			r.TaskID = id
			created, err := b.CreateTask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if arrived {
				if _, err := b.StartTask(t.Context(), r, by("o", "d-1")); err != nil {
					t.Fatal(err)
				}
			}
			d, err := b.Dispatch(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Exhaust(t.Context(), d, created.Exhausted(b.clock.Now()))
			if err != nil || got != arrived {
				t.Errorf("Exhaust = %v, %v; want %v", got, err, arrived)
			}
			after, _ := b.Dispatch(t.Context(), id)
			end, _ := b.Task(t.Context(), id)
			if want := map[bool]string{false: "exhausted FAILED", true: "sent RUNNING"}[arrived]; after.Status+" "+string(end.Status) != want || after.DueSK != "" {
				t.Errorf("the rows are %s %s, want %s", after.Status, end.Status, want)
			}
			if !arrived && (end.Error != task.ReasonExhausted || !end.FailedFor("d-1") || end.CompletionOwed != 1) {
				t.Errorf("the end: %+v", end)
			}
		}
	})
}
