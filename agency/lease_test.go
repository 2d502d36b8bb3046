package agency_test

import (
	"context"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// A handler that takes longer than a lease keeps its claim.
func TestALongRunKeepsItsClaim(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = func(c *ctxOf) error {
			time.Sleep(2 * time.Minute)
			got, err := w.agent.Deliver(c, request("t1", "ann", "review"), "another")
			if err != nil || got.Status != task.Running {
				t.Errorf("a second delivery meanwhile: %+v, %v, want RUNNING", got, err)
			}
			return c.Err()
		}
		got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), "")
		if err != nil || got.Status != task.Completed || w.status(t, "t1").Attempt != 1 {
			t.Errorf("Deliver = %+v, %v, want COMPLETED by the first attempt", got, err)
		}
	})
}

// A run whose task is cancelled meanwhile is told so and changes nothing.
func TestACancelledRunEnds(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = func(c *ctxOf) error {
			change, ok := w.status(t, "t1").Cancel(w.clock.Now())
			if err := w.table.Commit(context.Background(), store.ChangeTask(change)); err != nil || !ok {
				t.Errorf("cancel: %v, %v", ok, err)
			}
			<-c.Done()
			return context.Cause(c)
		}
		if got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err == nil && got.Status == task.Completed {
			t.Errorf("Deliver = %+v, want not COMPLETED", got)
		}
		if got := w.status(t, "t1"); !got.Cancelled || got.Status != task.Failed {
			t.Errorf("task %+v, want cancelled", got)
		}
	})
}

// A task that kills every worker ends.
func TestWorkersThatDieEnd(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		r := request("t1", "ann", "review")
		for range task.MaxAttempts {
			if _, err := w.table.StartTask(t.Context(), r, task.ClaimBy{Owner: w.clock.Now().String(), DeliveryID: "d", Lease: time.Second}); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(time.Minute)
		}
		got, err := w.agent.Deliver(t.Context(), r, "")
		if err != nil || got.Status != task.Failed || got.Error != task.ErrWorkerLost || w.ended["t1"] != 0 {
			t.Errorf("Deliver = %+v, %v, want %s", got, err, task.ErrWorkerLost)
		}
	})
}

func TestEmitCheckIn(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		for range 2 {
			if err := w.agent.EmitCheckIn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.settle(t)
		w.sound(t)
		if len(w.ended) != 1 {
			t.Errorf("%d check-ins of ann, want one for a slot that was sent twice", len(w.ended))
		}
	})
	none := newWorld(func(d *definition) { d.CheckIn = nil })
	if err := none.agent.EmitCheckIn(t.Context()); err == nil {
		t.Error("EmitCheckIn of a type without check-ins = nil")
	}
}

// A delayed task that is delivered before its time runs at its time.
func TestADelayedTaskIsNotEarly(t *testing.T) {
	for _, delay := range []time.Duration{-time.Second, 40 * time.Second, 3 * time.Hour} {
		isolated(t, nil, func(t *testing.T, w *world) {
			at := w.clock.Now().Add(delay).Truncate(time.Millisecond)
			var ran time.Time
			w.review = func(c *ctxOf) error { ran = c.Now; return nil }
			r := request("t1", "ann", "review")
			r.NotBefore = contract.At(at)
			got, err := w.agent.Deliver(t.Context(), r, "")
			if want := map[bool]task.Status{true: task.Pending, false: task.Completed}[delay > time.Hour]; err != nil || got.Status != want {
				t.Errorf("in %s: Deliver = %+v, %v, want %s", delay, got, err, want)
			}
			w.settle(t)
			w.sound(t)
			if late := ran.Sub(at); w.ended["t1"] != 1 || late < 0 || late > 5*time.Minute {
				t.Errorf("in %s: ran %d times, %s late", delay, w.ended["t1"], late)
			}
		})
	}
}
