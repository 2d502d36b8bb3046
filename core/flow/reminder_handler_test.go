package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// handler is the stage's only one.
func handler(s *stage.Stage, run func(context.Context, schedule.Tick) (schedule.Action, error)) {
	s.Ticks = []schedule.ReminderHandler{{Name: "recheck", Run: run}}
}

// every asks for a reminder with the handler each ten minutes.
func every(ctx context.Context, s *stage.Stage) (contract.Reminder, error) {
	if _, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c"); err != nil {
		return contract.Reminder{}, err
	}
	return remind(ctx, s, contract.NewReminder{Purpose: "ci", Every: "10m", Run: "recheck"}, "k")
}

// TestReminderHandler: it is asked at each time, tells the conversation what it wants once, and ends it all when it says so.
func TestReminderHandler(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		var ticks []int64
		handler(s, func(ctx context.Context, tick schedule.Tick) (schedule.Action, error) {
			ticks = append(ticks, tick.FireCount)
			switch tick.FireCount {
			case 1:
				return schedule.Skip, nil
			case 4:
				return schedule.Stop, nil
			}
			first, err := tick.FollowUp(ctx, fmt.Sprint("Look again, ", tick.FireCount, "."))
			again, errAgain := tick.FollowUp(ctx, "Look again!")
			if must(t, err, errAgain); first != again || tick.Reminder.Purpose != "ci" {
				t.Errorf("two follow-ups of a firing: %v, %v", first, again)
			}
			return schedule.Delivered, nil
		})
		r, err := every(ctx, s)
		must(t, err)
		for range 8 {
			must(t, s.Recover(ctx))
		}
		row, err := s.Edges.Table.Reminder(ctx, r.ReminderID)
		must(t, err)
		if !cmp.Equal(ticks, []int64{1, 2, 3, 4}) || row.Status != schedule.Done || row.FireCount != 4 || len(s.Alarm.Names()) > 0 {
			t.Errorf("ticks %v, alarms %v, in the end %+v", ticks, s.Alarm.Names(), row)
		}
		story := s.Story(id)
		if strings.Count(story, "message.received Look again") != 2 || !strings.Contains(story, "Look again, 2.") || !strings.Contains(story, "Look again, 3.") {
			t.Errorf("the story:\n%s", story)
		}
		must(t, s.Check(id))
	})
}

// TestReminderHandlersThatFail: their reminders go on, and say so until a firing goes well.
func TestReminderHandlersThatFail(t *testing.T) {
	ways := []func() (schedule.Action, error){
		func() (schedule.Action, error) { return "", errors.New("boom") },
		func() (schedule.Action, error) { panic("ouch") },
		func() (schedule.Action, error) { return "maybe", nil },
		func() (schedule.Action, error) { return schedule.Skip, nil },
	}
	wants := []string{"boom", "panic: ouch", `it answered "maybe", neither stop, skip nor delivered`, ""}
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		n := 0
		handler(s, func(context.Context, schedule.Tick) (schedule.Action, error) {
			n++
			return ways[n-1]()
		})
		r, err := every(ctx, s)
		must(t, err)
		off := s.FireReminder()
		off.Off = true
		for i, want := range wants {
			got, err := flow.DispatchReminder{FireReminder: off}.Do(ctx, r.ReminderID)
			if must(t, err); got.Outcome != flow.FiringFired || !strings.Contains(got.Error, want) || (want == "") != (got.Error == "") {
				t.Errorf("firing %d = %+v, want the error %q", i+1, got, want)
			}
			row, err := s.Edges.Table.Reminder(ctx, r.ReminderID)
			must(t, err)
			if row.Status != schedule.Active || row.FireCount != int64(i+1) || (row.Reason == schedule.HandlerFailed) != (want != "") {
				t.Errorf("after firing %d: %+v", i+1, row)
			}
		}
	})
}

// TestAHandlerThatADeployRemoved: its reminder ends, and the list says why.
func TestAHandlerThatADeployRemoved(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := every(ctx, s)
		must(t, err)
		for range 3 {
			must(t, s.Recover(ctx))
		}
		list, err := s.Reminders().List(ctx, flow.RemindersOf{SessionID: id, Caller: stage.User})
		must(t, err)
		if len(list.Reminders) != 1 || list.Reminders[0].Status != "lost" || list.Reminders[0].Reason != "handler_lost" || list.Reminders[0].NextFireAt != "" {
			t.Errorf("the list: %+v", list)
		}
		if left := s.Alarm.Names(); len(left) > 0 {
			t.Errorf("alarms left: %v", left)
		}
	})
}

// TestDispatchReminder: by hand the next firing comes now, once for each call, also where the clock fires nothing.
func TestDispatchReminder(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
		must(t, err)
		r, err := remind(ctx, s, contract.NewReminder{Every: "10m", MaxFires: 2, Prompt: "Check."}, "")
		must(t, err)
		off := s.FireReminder()
		off.Off = true
		got, err := off.Do(ctx, contract.FireReminder{ReminderID: r.ReminderID, At: r.NextFireAt})
		must(t, err)
		if diff := cmp.Diff(contract.ReminderFired{ReminderID: r.ReminderID, SessionIDs: []string{}, Outcome: "off"}, got); diff != "" {
			t.Errorf("by the clock (-want +got):\n%s", diff)
		}
		for range 2 {
			got, err := flow.DispatchReminder{FireReminder: off}.Do(ctx, r.ReminderID)
			must(t, err)
			if diff := cmp.Diff(contract.ReminderFired{ReminderID: r.ReminderID, SessionIDs: []string{id}, Outcome: "fired"}, got); diff != "" {
				t.Errorf("by hand (-want +got):\n%s", diff)
			}
		}
		if _, err := (flow.DispatchReminder{FireReminder: off}).Do(ctx, r.ReminderID); fault.ReasonOf(err) != "reminder_ended" {
			t.Errorf("one that has ended = %v", err)
		}
		if _, err := (flow.DispatchReminder{FireReminder: off}).Do(ctx, "rem_none"); !fault.Is(err, fault.NotFound) {
			t.Errorf("one that is not there = %v", err)
		}
		must(t, s.Drain(ctx))
		all, err := reminded(ctx, s)
		if must(t, err); len(all) != 2 {
			t.Errorf("told %v", all)
		}
	})
}

// TestSchedulesMakeReminders: a handler reminds conversations of its own, and no others.
func TestSchedulesMakeReminders(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := s.Send(ctx, "somebodys", "mine")
		must(t, err)
		s.Program = program(t, func(ctx context.Context, r schedule.Run) error {
			if _, err := r.Receive(ctx, webhook, contract.Message{ContinuationToken: "k", Text: "PR 1 is open."}); err != nil {
				return err
			}
			n := schedule.NewReminder{Channel: "webhook", ContinuationToken: "k", NewReminder: contract.NewReminder{Purpose: "ci", Delay: "2h", Prompt: "Look at CI."}}
			if _, err := r.Host.Reminders.Create(ctx, n); err != nil {
				return err
			}
			n.SessionID, n.Channel, n.ContinuationToken = "somebodys", "", ""
			if _, err := r.Host.Reminders.Create(ctx, n); !fault.Is(err, fault.Denied) {
				t.Errorf("in somebody's conversation = %v, want Denied", err)
			}
			return nil
		})
		ran, err := s.RunSchedule().Do(ctx, firing("alerts"))
		must(t, err)
		if ran.Error != "" || len(s.Alarm.Names()) != 1 {
			t.Fatalf("ran %+v, alarms %v", ran, s.Alarm.Names())
		}
		for range 3 {
			must(t, s.Recover(ctx))
		}
		if story := s.Story(ran.SessionIDs[0]); strings.Count(story, "message.received Look at CI.") != 1 {
			t.Errorf("the story:\n%s", story)
		}
	})
}

// ticked counts what a handler that writes to the conversation did. Killed ones did nothing.
func ticked(s *stage.Stage) map[int64]int {
	runs := map[int64]int{}
	handler(s, func(ctx context.Context, tick schedule.Tick) (schedule.Action, error) {
		if fake.Killed(ctx) {
			return "", ctx.Err()
		}
		runs[tick.FireCount]++
		_, err := tick.FollowUp(ctx, "Look.")
		if tick.FireCount >= 3 {
			return schedule.Stop, err
		}
		return schedule.Delivered, err
	})
	return runs
}

// tickedOnce reports a firing that ran twice, one that neither ran nor is told to be lost, one that is lost although nobody died, a
// message that was told twice, and what is not at rest.
func tickedOnce(s *stage.Stage, runs map[int64]int, killed bool) error {
	s.Dynamo.World = nil
	ctx := context.Background()
	for n, times := range runs {
		if times > 1 {
			return fmt.Errorf("firing %d ran %d times", n, times)
		}
	}
	lost, count := 0, int64(0)
	for _, item := range s.Dynamo.Items("REMINDER#") {
		parsed, _ := stage.Parse(item)
		if parsed.Kind == "reminder" {
			r, err := s.Edges.Table.Reminder(ctx, parsed.Parts[0])
			if err != nil || r.Status != schedule.Done || r.DueSK != "" {
				return fmt.Errorf("the reminder is %+v, %v", r, err)
			}
			count = r.FireCount
			continue
		}
		at, err := strconv.ParseInt(parsed.Parts[1], 10, 64)
		f, err2 := s.Edges.Table.Firing(ctx, key.ReminderFiring(parsed.Parts[0], at))
		if err := errors.Join(err, err2); err != nil || f.DueSK != "" || f.Owner != "" {
			return fmt.Errorf("a firing is not at rest: %+v, %v", f, err)
		}
		if f.Status == schedule.FiringLost {
			lost++
		}
	}
	switch {
	case lost > 0 && !killed && !died(s.World):
		return fmt.Errorf("%d firings are lost, and nobody died", lost)
	case count < 3 || len(runs) > int(count) || len(runs)+lost < int(count):
		return fmt.Errorf("%d firings are counted, %d ran, %d are lost", count, len(runs), lost)
	}
	return remindedOnce(s, []int{0, len(runs)})
}

// TestExploreReminderHandlers: wherever a worker dies or an answer is lost, each firing runs at most once, and the reminder goes on to
// its end.
func TestExploreReminderHandlers(t *testing.T) {
	for _, copies := range []int{0, 1} {
		name := fmt.Sprintf("a reminder with a handler, %d copies", copies)
		fake.Explore(t, fake.Flow{Name: name, Pairs: 30, Seed: 3, New: func() *fake.Run {
			p := &stage.Play{Stage: stage.New(&fake.Model{})}
			runs := ticked(p.Stage)
			p.Bus.Duplicate = func(fake.Event) int { return copies }
			p.Acts = []func(context.Context) error{func(ctx context.Context) error {
				_, err := every(ctx, p.Stage)
				return err
			}}
			return p.Run(nil, func() error { return tickedOnce(p.Stage, runs, false) })
		}})
	}
}

// TestHandlersThatMeet: two and three hosts get the same firing, of which one may die or be slow; somebody may cancel it meanwhile.
func TestHandlersThatMeet(t *testing.T) {
	for _, c := range []struct {
		workers int
		cancel  bool
		slow    time.Duration
	}{{2, false, 0}, {3, false, 0}, {2, false, 40 * time.Second}, {1, true, 0}} {
		name := fmt.Sprintf("%d hosts, cancelled %t, slow %s", c.workers, c.cancel, c.slow)
		t.Run(name, func(t *testing.T) {
			fake.ExploreSteps(t, fake.Steps{Name: name, Kill: c.slow == 0, Slow: c.slow, Cap: 120, Random: 60, Seed: 5, New: func() *fake.Meeting {
				s := stage.New(&fake.Model{})
				runs := ticked(s)
				r, err := every(context.Background(), s)
				must(t, err)
				s.Clock.Advance(10 * time.Minute)
				m := &fake.Meeting{World: s.World, Recover: s.Recover, Check: func() error {
					if !c.cancel {
						return tickedOnce(s, runs, c.slow == 0)
					}
					if row, err := s.Edges.Table.Reminder(context.Background(), r.ReminderID); err != nil || row.Status == schedule.Active || runs[1] > 1 {
						return fmt.Errorf("it ran %d times, the reminder is %+v, %v", runs[1], row, err)
					}
					return remindedOnce(s, []int{0, 3})
				}}
				for range c.workers {
					m.Workers = append(m.Workers, func(ctx context.Context) error {
						_, err := s.FireReminder().Do(ctx, contract.FireReminder{ReminderID: r.ReminderID, At: r.NextFireAt})
						return err
					})
				}
				if c.cancel {
					m.Workers = append(m.Workers, cancelling(s))
				}
				return m
			}})
		})
	}
}
