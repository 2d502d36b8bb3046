package agency_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// explore cuts a story off at every call, in every way, and wants the same end, which has these words in it.
func explore(t *testing.T, name string, change func(*definition), set func(*world), story func(ctx context.Context, w *world) error, words ...string) {
	t.Helper()
	fake.Explore(t, fake.Flow{Name: name, New: func() *fake.Run {
		w := newWorld(change)
		if set != nil {
			set(w)
		}
		return &fake.Run{
			World: w.World, End: w.end, Recover: w.round,
			Check: func() error {
				for _, word := range words {
					if end := w.end(); !strings.Contains(end, word) {
						return fmt.Errorf("%q is not in the end:\n%s", word, end)
					}
				}
				return w.check()
			},
			Do: func(ctx context.Context) error { return story(ctx, w) },
		}
	}})
}

// event sends one event.
func event(detailType string) func(ctx context.Context, w *world) error {
	return func(ctx context.Context, w *world) error { return w.send(ctx, "evt-1", detailType) }
}

func TestExploreEventToPromiseToClosed(t *testing.T) {
	explore(t, "event, tasks of two agents, promises, follow-ups, closed", nil, nil, event("Pull Request Opened"), "ann: investigate:c-ann fulfilled", "bob: investigate:c-bob fulfilled")
}

func TestExploreUrgent(t *testing.T) {
	explore(t, "urgent", nil, nil, event("Deadline Near"), "fulfilled")
}

func TestExploreDelayed(t *testing.T) {
	explore(t, "delayed task", nil, nil, event("Weekly"), "fulfilled")
}

func TestExploreDeferred(t *testing.T) {
	explore(t, "deferred to the end of the cooldown", nil, nil, func(ctx context.Context, w *world) error {
		return errors.Join(w.send(ctx, "evt-1", "Deadline Near"), w.send(ctx, "evt-2", "Comment Added"))
	})
}

// A second event within the cooldown changes nothing, wherever the first one was cut off.
func TestExploreCooldown(t *testing.T) {
	explore(t, "cooldown", func(d *definition) {
		d.Rules = []agency.Rule{rule("Comment Added", agency.Wake{Agents: []string{"ann"}, Cooldown: &agency.Cooldown{Slot: "review", Window: 24 * time.Hour}})}
	}, nil, func(ctx context.Context, w *world) error {
		return errors.Join(w.send(ctx, "evt-1", "Comment Added"), w.send(ctx, "evt-2", "Comment Added"))
	}, agency.TaskID("evt-1", "ann", "review"))
}

// An hour without a bus: what is owed meanwhile is told afterwards, wherever work was cut off. With a thousand it is TestExploreOutageOfAThousand.
func TestExploreOutage(t *testing.T) {
	const owed = 4
	explore(t, "an hour without a bus", nil, func(w *world) {
		w.review = nothing
		w.down(time.Hour)
		for n := range owed {
			w.pending = append(w.pending, request(fmt.Sprint("t", n), "ann", "review"))
		}
	}, func(ctx context.Context, w *world) error {
		_ = w.deliver(ctx) // fails: the bus is down
		return ctx.Err()
	}, fmt.Sprintf("task t%d COMPLETED", owed-1))
}

func TestExploreCapped(t *testing.T) {
	explore(t, "capped", func(d *definition) { d.TaskCap = 1 }, nil, event("Deadline Near"), "FAILED \"Task cap reached", "c-ann queued")
}

func TestExploreHandlerFails(t *testing.T) {
	explore(t, "a look that begins and fails for good", nil, func(w *world) {
		w.verdict = func(c *ctxOf, com agency.Commitment[intent]) error {
			_, err := c.AdvanceCommitment(com.ID, agency.Start{})
			return errors.Join(err, errors.New("no such test"))
		}
	}, event("Deadline Near"), "c-ann failed")
}

// checkedIn is an event, and a check-in half a day later.
func checkedIn(ctx context.Context, w *world) error {
	checkIn, err := w.agent.CheckInEvent(w.clock.Now().Add(13 * time.Hour))
	if err != nil {
		return err
	}
	checkIn.ID = "ci-1"
	w.events = append(w.events, checkIn)
	return w.send(ctx, "evt-1", "Deadline Near")
}

// A look that was declined is reconsidered at a check-in.
func TestExploreReconsider(t *testing.T) {
	explore(t, "redispatch: reconsider", nil, func(w *world) {
		w.verdict = func(c *ctxOf, com agency.Commitment[intent]) error {
			e := agency.Closed{Status: agency.CommitmentDeclined, Reason: "not now", Reconsider: true}
			if com.Reconsiderations > 0 {
				e = agency.Closed{Status: agency.CommitmentFulfilled, Reason: "found"}
			}
			_, err := c.AdvanceCommitment(com.ID, e)
			return err
		}
	}, checkedIn, "c-ann fulfilled", "check_in")
}

// A look whose task ended before it began is resumed at a check-in.
func TestExploreResume(t *testing.T) {
	explore(t, "redispatch: resume", nil, func(w *world) {
		w.verdict = func(c *ctxOf, com agency.Commitment[intent]) error {
			if len(com.ChildTaskIDs) == 1 {
				return errors.New("lost")
			}
			_, err := c.AdvanceCommitment(com.ID, agency.Closed{Status: agency.CommitmentFulfilled, Reason: "found"})
			return err
		}
	}, checkedIn, "c-ann fulfilled", "check_in")
}

// Tasks that are held while the type is paused run when it goes on, wherever they are cut off.
func TestExplorePausedThenResumed(t *testing.T) {
	explore(t, "paused, held, resumed", func(d *definition) { d.OnPause = agency.HoldTasks }, func(w *world) {
		w.goesOn = w.clock.Now().Add(20 * time.Minute)
	}, func(ctx context.Context, w *world) error {
		return errors.Join(w.table.PauseAgency(ctx, "reviewer", true), w.send(ctx, "evt-1", "Deadline Near"))
	}, "fulfilled")
}

// A pause that begins between a promise and its task drops the task, not the promise: it is kept after the pause, at the next check-in,
// wherever work is cut off.
func TestExploreDroppedThenResumed(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "paused, dropped, resumed", New: func() *fake.Run {
		w := newWorld(nil)
		w.goesOn = w.clock.Now().Add(2 * time.Hour)
		dropped := func() (n int) {
			for _, one := range w.tasks() {
				if one.Error == "paused" {
					n++
				}
			}
			return n
		}
		w.review = func(c *ctxOf) error {
			if _, err := c.Promise(w.promise(c)); err != nil || w.clock.Now().After(w.goesOn) {
				return err
			}
			defer w.clock.Advance(10 * time.Second) // until every worker knows
			return w.table.PauseAgency(c, "reviewer", true)
		}
		return &fake.Run{
			World: w.World, Recover: w.round,
			End: func() string { // which tasks were dropped depends on where work was cut off, before the pause or in it
				if b := w.book("ann"); len(b) == 1 {
					return string(b[0].Status)
				}
				return "no promise"
			},
			Check: func() error {
				if b := w.book("ann"); len(b) != 1 || b[0].Status != agency.CommitmentFulfilled || w.Disturbed() == 0 && dropped() == 0 {
					return fmt.Errorf("the promise is %+v, %d tasks were dropped", b, dropped())
				}
				return w.check()
			},
			Do: func(ctx context.Context) error { return checkedIn(ctx, w) },
		}
	}})
}

// What a decision costs: for each agent one transaction, the send and its mark; a redelivery only reads.
func TestWhatADecisionWrites(t *testing.T) {
	isolated(t, func(d *definition) {
		once := "week 1"
		d.Rules = []agency.Rule{rule("Weekly", agency.Wake{Agents: []string{"ann", "bob", "cid"}, OncePer: &once})}
	}, func(t *testing.T, w *world) {
		e := contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Weekly"}
		for _, want := range []int{3, 3} {
			if _, err := w.agent.Route(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"dynamo.TransactWriteItems", "dynamo.UpdateItem", "bus.PutEvents"} {
				if n := w.Count(name); n != want {
					t.Errorf("%d %s, want %d", n, name, want)
				}
			}
		}
		e.ID = "evt-2"
		if d, err := w.agent.Route(t.Context(), e); err != nil || len(d) != 3 || d[0].Decision != agency.Repeated || w.Count("dynamo.TransactWriteItems") != 3 {
			t.Errorf("another event of the week: %v, %v", d, err)
		}
	})
}
