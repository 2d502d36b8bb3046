package agency_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
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

// forItsEnd waits for the end of ctx, but not for ever.
func forItsEnd(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Hour):
	}
}

// silent is a table that stops to answer updates.
type silent struct {
	store.API
	fails bool // it refuses them instead
	on    atomic.Bool
}

func (s *silent) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	switch {
	case s.on.Load() && s.fails:
		return nil, fake.ErrThrottled
	case s.on.Load():
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.API.UpdateItem(ctx, in, o...)
}

// A run whose lease cannot be renewed ends before another may begin, and the task is to be had again: also where the type calls nothing
// worth another try.
func TestARunWhoseLeaseCannotBeRenewedEnds(t *testing.T) {
	for _, fails := range []bool{true, false} {
		t.Run(fmt.Sprint("the table refuses ", fails), func(t *testing.T) {
			table := &silent{fails: fails}
			change := func(d *definition) {
				table.API, d.Table.DynamoDB = d.Table.DynamoDB, table
				d.IsRetryable = func(error) bool { return false }
			}
			isolated(t, change, func(t *testing.T, w *world) {
				var took time.Duration
				w.review = func(c *ctxOf) error {
					began := time.Now()
					table.on.Store(true)
					forItsEnd(c)
					table.on.Store(false)
					took = time.Since(began)
					return c.Err()
				}
				got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), "")
				if !fault.Retryable(err) || took > task.Lease-task.Margin {
					t.Errorf("Deliver = %+v, %v after %s, want a fault worth another delivery within %s", got, err, took, task.Lease-task.Margin)
				}
				if got := w.status(t, "t1"); got.Status != task.Failed || !got.Retryable || len(got.FailedBy) > 0 {
					t.Errorf("task %+v, want given back", got)
				}
			})
		})
	}
}

// looked is the one promise of ann.
func (w *world) looked(t *testing.T) agency.Commitment[json.RawMessage] {
	t.Helper()
	in, err := w.agent.Inspect(t.Context(), "ann")
	if err != nil || len(in.Commitments) != 1 {
		t.Fatalf("Inspect = %+v, %v", in, err)
	}
	return in.Commitments[0]
}

// promised has ann make it, and gives the task that is to keep it.
func (w *world) promised(t *testing.T) (next task.Request) {
	t.Helper()
	if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(w.status(t, w.looked(t).ChildTaskIDs[0]).Detail), &next); err != nil {
		t.Fatal(err)
	}
	return next
}

// A run whose task another has taken over leaves alone what it had begun: it is the other's.
func TestARunThatIsTakenOverTouchesNothing(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		next := w.promised(t)
		w.verdict = func(c *ctxOf, com agency.Commitment[intent]) error {
			if _, err := c.AdvanceCommitment(com.ID, agency.Start{}); err != nil {
				return err
			}
			later := w.table // of a host to which this one's lease has ended
			later.Now = func() time.Time { return w.clock.Now().Add(time.Hour) }
			if _, err := later.StartTask(c, next, task.Claim{Owner: "other", DeliveryID: "d2", Lease: time.Hour}); err != nil {
				return err
			}
			forItsEnd(c)
			return c.Err()
		}
		got, err := w.agent.Deliver(t.Context(), next, "")
		if err != nil || got.Status != task.Running {
			t.Errorf("Deliver = %+v, %v, want RUNNING", got, err)
		}
		if com := w.looked(t); com.Status != agency.CommitmentEvaluating {
			t.Errorf("the promise is %s, want evaluating", com.Status)
		}
	})
}

// A task that kills every worker ends.
func TestWorkersThatDieEnd(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		r := request("t1", "ann", "review")
		for range task.MaxAttempts {
			if _, err := w.table.StartTask(t.Context(), r, task.Claim{Owner: w.clock.Now().String(), DeliveryID: "d", Lease: time.Second}); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(time.Minute)
		}
		got, err := w.agent.Deliver(t.Context(), r, "")
		if err != nil || got.Status != task.Failed || got.Error != task.ReasonWorkerLost || w.ended["t1"] != 0 {
			t.Errorf("Deliver = %+v, %v, want %s", got, err, task.ReasonWorkerLost)
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

// A schedule that calls at a slot whose time this clock has not reached emits that slot, and none is lost: one a day for each of three days.
func TestEmitCheckInOnASlowClock(t *testing.T) {
	for _, late := range []time.Duration{-59 * time.Second, -time.Millisecond, 0, 40 * time.Second, time.Hour} {
		isolated(t, func(d *definition) {
			d.CheckIn.Schedule = agency.CheckInSchedule{TimeZone: "UTC", Slots: []agency.CheckInSlot{{Slot: "noon", Hour: 12}}}
		}, func(t *testing.T, w *world) {
			for day := range 3 {
				w.clock.Set(time.Date(2026, 1, 2+day, 12, 0, 0, 0, time.UTC).Add(late * time.Duration(day%2))) // not every clock is slow
				if err := w.agent.EmitCheckIn(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := w.bus.Drain(t.Context(), w.handle); err != nil {
					t.Fatal(err)
				}
			}
			if len(w.ended) != 3 {
				t.Errorf("called %s after the slot: %d check-ins in three days", late, len(w.ended))
			}
			w.settle(t)
			w.sound(t)
			for _, e := range w.bus.Of(agency.CheckInDetailType) {
				d := read[struct{ Date, At string }](t, e.Detail)
				if d.At != d.Date+"T12:00:00.000Z" {
					t.Errorf("called %s after the slot, it told %+v", late, d)
				}
			}
		})
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
