package agency_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// 6: a promise that is to be kept later is not lost meanwhile.
func TestFault06ADelayedPromiseIsNotResumedEarly(t *testing.T) {
	now := fake.Start()
	draft := agency.CommitmentDraft[intent]{Kind: "investigate", At: now, TaskID: "look", TaskDueAt: now.Add(6 * time.Hour), Counterpart: "zoe", ExpiresAt: now.Add(48 * time.Hour)}
	book, _ := agency.OpenCommitment(agency.CommitmentBook[intent]{}, draft, agency.CommitmentLimits{})
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{2 * time.Hour, 0}, {7*time.Hour - time.Millisecond, 0}, {7 * time.Hour, 1}} {
		if due := agency.DueCommitments(stored(t, book), now.Add(tt.after), nil, agency.CommitmentLimits{}); due.Len() != tt.want {
			t.Errorf("after %s: %d due, want %d", tt.after, due.Len(), tt.want)
		}
	}
}

// 7: a look that began and failed is closed, and queued again if its task is.
func TestFault07AFailedLookBlocksNobody(t *testing.T) {
	tests := []struct {
		name  string
		err   error
		after agency.CommitmentStatus
		end   agency.CommitmentStatus
	}{
		{"for good", errors.New("no such test"), agency.CommitmentFailed, agency.CommitmentFailed},
		{"to be tried again", fault.New(fault.Unavailable, "slow down"), agency.CommitmentQueued, agency.CommitmentFulfilled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			isolated(t, nil, func(t *testing.T, w *world) {
				failed := false
				var seen agency.CommitmentStatus
				w.verdict = func(c *ctxOf, com agency.Commitment[intent]) error {
					if failed {
						seen = com.Status
					}
					if _, err := c.AdvanceCommitment(com.ID, agency.Start{}); err != nil {
						return err
					}
					if !failed {
						failed = true
						return tt.err
					}
					_, err := c.AdvanceCommitment(com.ID, agency.Closed{Status: agency.CommitmentFulfilled})
					return err
				}
				if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil {
					t.Fatal(err)
				}
				w.settle(t)
				w.sound(t)
				b := w.book("ann")
				if len(b) != 1 || b[0].Status != tt.end || seen != "" && seen != tt.after {
					t.Fatalf("book %+v, seen %q on the second try", b, seen)
				}
				if tt.end == agency.CommitmentFailed && b[0].Decision.Reason != "task_failed" {
					t.Errorf("decision %+v", b[0].Decision)
				}
			})
		})
	}
}

// 8: a gate is never taken for a task that is not sent.
func TestFault08AGateBelongsToATask(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = nothing
		w.Disturb(fake.Disturbance{Name: "bus.PutEvents", Mode: fake.Fail, Times: 2})
		decisions, err := w.agent.Route(t.Context(), contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Pull Request Opened"})
		if err != nil || len(decisions) != 2 || decisions[1].Decision != agency.Requested {
			t.Fatalf("Route = %v, %v", decisions, err)
		}
		w.settle(t) // evt-1 never comes again
		w.sound(t)
		if n := len(w.ended); n != 2 {
			t.Errorf("%d tasks ran, want 2", n)
		}
	})
}

// 9: a redelivery extends no cooldown; what comes in a cooldown may wait for its end, once.
func TestFault09CooldownsEndWhenTheyEnd(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = nothing
		route := func(id, detailType string) agency.Decision {
			t.Helper()
			d, err := w.agent.Route(t.Context(), contract.RawEvent{ID: id, Source: "app", DetailType: detailType})
			if err != nil {
				t.Fatal(err)
			}
			return d[0]
		}
		route("evt-1", "Pull Request Opened")
		w.clock.Advance(10 * time.Minute)
		if d := route("evt-1", "Pull Request Opened"); d.Decision != agency.AlreadyDispatched {
			t.Errorf("a redelivery: %v", d.Decision)
		}
		first, second := route("evt-2", "Comment Added"), route("evt-3", "Comment Added")
		if first.Decision != agency.Deferred || second.Decision != agency.Deferred || first.TaskID != second.TaskID || first.Delay != 5*time.Minute {
			t.Errorf("in the cooldown: %+v and %+v, want one task in 5m", first, second)
		}
		w.settle(t)
		w.sound(t)
		if w.ended[first.TaskID] != 1 || len(w.ended) != 3 {
			t.Errorf("ran %v, want ann, bob and one deferred", w.ended)
		}
	})
}

// What is urgent goes through a cooldown that a task waits for, and leaves it as it is: there is still one such task.
func TestAnUrgentTaskDoesNotShortenAWait(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = nothing
		var made []string
		began := w.clock.Now()
		for _, tt := range []struct {
			at         time.Duration
			detailType string
			want       string
		}{
			{0, "Comment Added", "ann requested"},
			{time.Minute, "Comment Added", "ann deferred"},
			{2 * time.Minute, "Deadline Near", "ann requested"},
			{3 * time.Minute, "Comment Added", "ann deferred"},
		} {
			w.clock.Set(began.Add(tt.at))
			d, err := w.agent.Route(t.Context(), contract.RawEvent{ID: "evt-" + tt.at.String(), Source: "app", DetailType: tt.detailType})
			if got := decided(d); err != nil || got != tt.want {
				t.Fatalf("after %s: %q, %v, want %q", tt.at, got, err, tt.want)
			}
			made = append(made, d[0].TaskID)
		}
		if made[1] != made[3] {
			t.Errorf("two tasks wait, %s and %s", made[1], made[3])
		}
		w.settle(t)
		w.sound(t)
		if len(w.ended) != 3 {
			t.Errorf("ran %v, want three", w.ended)
		}
	})
}

// 10: where clocks change at midnight, each day has its own date.
func TestFault10EveryDayHasItsCheckIn(t *testing.T) {
	zone, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(func(d *definition) {
		d.CheckIn.Schedule = agency.CheckInSchedule{TimeZone: "America/Santiago", Slots: []agency.CheckInSlot{{Slot: "midnight", Hour: 0, Minute: 30}}}
	})
	var dates []string
	for day := 4; day <= 8; day++ { // clocks jump in the night to 6 September 2026
		e, err := w.agent.CheckInEvent(time.Date(2026, 9, day, 12, 0, 0, 0, zone))
		if err != nil {
			t.Fatal(err)
		}
		dates = append(dates, read[struct{ Date string }](t, e.Detail).Date)
	}
	if want := []string{"2026-09-04", "2026-09-05", "2026-09-06", "2026-09-07", "2026-09-08"}; !slices.Equal(dates, want) {
		t.Errorf("dates %v, want %v", dates, want)
	}
}
