package flow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// remind asks for a reminder of the stage's user in the session of all tests.
func remind(ctx context.Context, s *stage.Stage, n contract.NewReminder, key string) (contract.Reminder, error) {
	if n.Purpose == "" {
		n.Purpose = "check"
	}
	return s.Reminders().Create(ctx, flow.RemindIn{SessionID: id, Caller: stage.User, Reminder: n, Key: key})
}

// reminded lists the deliveries of firings that the session's turns took, in order.
func reminded(ctx context.Context, s *stage.Stage) (all []string, err error) {
	events, err := s.Events(ctx, id)
	for _, e := range events {
		var d struct {
			DeliveryIDs []string `json:"deliveryIds"`
			DeliveryID  string   `json:"deliveryId"`
		}
		if e.Type != "message.received" && e.Type != "nudge.delivered" {
			continue
		}
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return nil, err
		}
		for _, delivery := range append(d.DeliveryIDs, d.DeliveryID) {
			if strings.HasPrefix(delivery, "rem:") {
				all = append(all, delivery)
			}
		}
	}
	return all, err
}

func TestRemindRefusals(t *testing.T) {
	prompt := func(n contract.NewReminder) contract.NewReminder {
		n.Purpose, n.Prompt = "check", "Check."
		return n
	}
	tests := []struct {
		name string
		n    contract.NewReminder
		want string
	}{
		{"no time", prompt(contract.NewReminder{}), "exactly one of delay, at, every and cron"},
		{"two times", prompt(contract.NewReminder{Delay: "1h", Every: "1h"}), "exactly one of delay, at, every and cron"},
		{"no delay", prompt(contract.NewReminder{Delay: "soon"}), "delay"},
		{"P18: past", prompt(contract.NewReminder{At: "2025-12-31T10:00:00Z"}), "at:"},
		{"too often", prompt(contract.NewReminder{Every: "30s"}), "every:"},
		{"no cron", prompt(contract.NewReminder{Cron: "0 9 31 2 *"}), "cron"},
		{"no zone", prompt(contract.NewReminder{At: "2026-02-01", TimeZone: "Mars/Base"}), "timezone"},
		{"once, but thrice", prompt(contract.NewReminder{Delay: "1h", MaxFires: 3}), "maxFires:"},
		{"less than never", prompt(contract.NewReminder{Every: "1h", MaxFires: -1}), "maxFires:"},
		{"nothing to say", contract.NewReminder{Purpose: "check", Delay: "1h", Prompt: " "}, "exactly one of prompt and run"},
		{"both forms", contract.NewReminder{Purpose: "check", Delay: "1h", Prompt: "x", Run: "y"}, "exactly one of prompt and run"},
		{"long", contract.NewReminder{Purpose: "check", Delay: "1h", Prompt: strings.Repeat("x", 9000)}, "prompt:"},
		{"long until", contract.NewReminder{Purpose: "check", Delay: "1h", Prompt: "x", Until: strings.Repeat("x", 9000)}, "until:"},
		{"no purpose", contract.NewReminder{Delay: "1h", Prompt: "x"}, "purpose"},
	}
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
		must(t, err)
		rows := len(s.Dynamo.Items(""))
		for _, tt := range tests {
			_, err := s.Reminders().Create(ctx, flow.RemindIn{SessionID: id, Caller: stage.User, Reminder: tt.n})
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want Invalid about %q", tt.name, err, tt.want)
			}
		}
		if got := len(s.Dynamo.Items("")); got != rows || len(s.Alarm.Names()) > 0 {
			t.Errorf("refusals left %d rows and alarms %v", got-rows, s.Alarm.Names())
		}
	})
}

func TestRemindersAreTheirOwners(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
		must(t, err)
		r, err := remind(ctx, s, contract.NewReminder{Delay: "1h", Prompt: "Check."}, "")
		must(t, err)
		other := task.User("user-2")
		_, err = s.Reminders().Create(ctx, flow.RemindIn{SessionID: id, Caller: other, Reminder: contract.NewReminder{Purpose: "p", Delay: "1h", Prompt: "x"}})
		_, errList := s.Reminders().List(ctx, flow.RemindersOf{SessionID: id, Caller: other})
		_, errCancel := s.Reminders().Cancel(ctx, flow.RemindersOf{SessionID: id, Caller: other, ReminderID: r.ReminderID})
		for what, err := range map[string]error{"create": err, "list": errList, "cancel": errCancel} {
			if !fault.Is(err, fault.Denied) {
				t.Errorf("%s as another user: %v, want Denied", what, err)
			}
		}
		_, err = s.Reminders().Create(ctx, flow.RemindIn{SessionID: "nowhere", Caller: stage.User, Reminder: contract.NewReminder{Purpose: "p", Delay: "1h", Prompt: "x"}})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("in no session: %v, want NotFound", err)
		}
	})
}

func TestRemindersThatAreDisabled(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
		must(t, err)
		_, err = flow.Reminders{Edges: s.Edges}.Create(ctx, flow.RemindIn{SessionID: id, Caller: stage.User, Reminder: contract.NewReminder{Purpose: "p", Delay: "1h", Prompt: "x"}})
		if fault.ReasonOf(err) != "reminders_disabled" {
			t.Errorf("Create = %v", err)
		}
	})
}

func TestATaskSessionCannotBeReminded(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		must(t, s.Edges.Table.Commit(ctx, store.NewState(session.New(id, session.TaskRun, stage.User, s.Clock.Now()))))
		_, err := remind(ctx, s, contract.NewReminder{Delay: "1h", Prompt: "Check."}, "")
		if fault.ReasonOf(err) != "task_session" || !strings.Contains(err.Error(), "cannot receive follow-ups") {
			t.Errorf("Create = %v", err)
		}
	})
}

func TestRemindersHaveALimit(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
		must(t, err)
		made, refused, made1 := 0, 0, ""
		for i := range 1000 {
			key := ""
			if i == 0 {
				key = "the first"
			}
			r, err := remind(ctx, s, contract.NewReminder{Purpose: fmt.Sprint("p", i%2), Delay: "1h", Prompt: "x"}, key)
			if i == 0 {
				made1 = r.ReminderID
			}
			switch {
			case fault.Is(err, fault.Limit) && strings.Contains(err.Error(), "50"):
				refused++
			case err != nil:
				t.Fatal(err)
			default:
				made++
			}
		}
		if made != schedule.MaxReminders || refused != 1000-made || len(s.Alarm.Names()) != made {
			t.Errorf("%d made, %d refused, %d alarms", made, refused, len(s.Alarm.Names()))
		}
		first, err := s.Reminders().List(ctx, flow.RemindersOf{SessionID: id, Caller: stage.User})
		must(t, err)
		again, err := remind(ctx, s, contract.NewReminder{Purpose: "p0", Delay: "1h", Prompt: "x"}, "the first")
		if must(t, err); again.ReminderID != made1 || len(first.Reminders) != made {
			t.Errorf("at the limit a call again made %v, want %s; %d are listed", again, made1, len(first.Reminders))
		}
		for want := 25; want >= 0; want -= 25 { // again, there is nothing left
			out, err := s.Reminders().Cancel(ctx, flow.RemindersOf{SessionID: id, Caller: stage.User, Purpose: "p1"})
			if must(t, err); out.Cancelled != want {
				t.Errorf("cancelled %d, want %d", out.Cancelled, want)
			}
		}
		list, err := s.Reminders().List(ctx, flow.RemindersOf{SessionID: id, Caller: stage.User})
		must(t, err)
		if len(list.Reminders) != 50 || list.Reminders[0].Status != "active" || list.Reminders[49].Status != "cancelled" || len(s.Alarm.Names()) != 25 {
			t.Errorf("%d listed, alarms %d", len(list.Reminders), len(s.Alarm.Names()))
		}
		_, err = flow.DeleteSession{Edges: s.Edges, Alarms: s.Later}.Do(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
		must(t, err)
		for _, row := range s.Dynamo.Items("") {
			if parsed, ok := stage.Parse(row); ok && parsed.Kind != "state" {
				t.Errorf("left after the delete: %v", parsed)
			}
		}
		if left := s.Alarm.Names(); len(left) > 0 {
			t.Errorf("alarms left after the delete: %v", left)
		}
	})
}

// TestRemind: it comes at its time, in words of its own, as often as asked.
func TestRemind(t *testing.T) {
	tests := []struct {
		name  string
		n     contract.NewReminder
		after []time.Duration // of the firings, from the beginning
		late  time.Duration   // Scheduler keeps time to the minute
	}{
		{"soon", contract.NewReminder{Delay: "20s"}, []time.Duration{20 * time.Second}, 0},
		{"now", contract.NewReminder{Delay: "0"}, []time.Duration{0}, 0},
		{"later", contract.NewReminder{Delay: "2h"}, []time.Duration{2 * time.Hour}, time.Minute},
		{"at", contract.NewReminder{At: "2026-01-01T12:30", TimeZone: "Europe/Amsterdam"}, []time.Duration{11*time.Hour + 30*time.Minute}, time.Minute},
		{"each minute, thrice", contract.NewReminder{Every: "1m", MaxFires: 3}, []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute}, 0},
		{"each hour, twice", contract.NewReminder{Every: "1h", MaxFires: 2}, []time.Duration{time.Hour, 2 * time.Hour}, time.Minute},
		{"by the calendar", contract.NewReminder{Cron: "0 9 * * *", MaxFires: 2}, []time.Duration{9 * time.Hour, 33 * time.Hour}, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
				must(t, err)
				began := s.Clock.Now()
				tt.n.Prompt = "Check."
				r, err := remind(ctx, s, tt.n, "")
				must(t, err)
				for range 3 * len(tt.after) {
					must(t, s.Recover(ctx))
				}
				row, err := s.Edges.Table.Reminder(ctx, r.ReminderID)
				if must(t, err); row.Status != schedule.Done || row.FireCount != int64(len(tt.after)) {
					t.Errorf("in the end %+v", row)
				}
				times, err := firedAt(ctx, s)
				if must(t, err); len(times) != len(tt.after) {
					t.Fatalf("fired %d times, want %d", len(times), len(tt.after))
				}
				for i, at := range times {
					if late := at.Sub(began.Add(tt.after[i])); late < 0 || late > tt.late+time.Second {
						t.Errorf("firing %d is %s late, at most %s is right", i+1, late, tt.late)
					}
				}
			})
		})
	}
}

// firedAt lists when turns of reminders began.
func firedAt(ctx context.Context, s *stage.Stage) (times []time.Time, err error) {
	events, err := s.Events(ctx, id)
	for _, e := range events {
		if e.Type == "message.received" && strings.Contains(string(e.Data), `"rem:`) {
			at, err := e.At.Time()
			if err != nil {
				return nil, err
			}
			times = append(times, at)
		}
	}
	return times, err
}

// TestAFarReminderKeepsItsConversation: nobody speaks for longer than a conversation lives, and it is woken in what was said before.
func TestAFarReminderKeepsItsConversation(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID, Title: "Trees"}, "c")
		must(t, err)
		_, err = s.Send(ctx, id, "I have planted a tree.")
		must(t, err, s.Drain(ctx))
		r, err := remind(ctx, s, contract.NewReminder{Delay: "90d", Prompt: "Look after the tree."}, "")
		must(t, err)
		for range 12 {
			must(t, s.Recover(ctx))
		}
		row, err := s.Edges.Table.Reminder(ctx, r.ReminderID)
		if must(t, err); row.Status != schedule.Done || row.FireCount != 1 {
			t.Errorf("in the end %+v", row)
		}
		story := s.Story(id)
		if !strings.Contains(story, "message.received I have planted a tree.") || !strings.Contains(story, "message.received Look after the tree.") {
			t.Errorf("the story:\n%s", story)
		}
		config, err := s.Edges.Table.SessionConfig(ctx, id)
		if err != nil || config.Title != "Trees" {
			t.Errorf("the settings: %+v, %v", config, err)
		}
	})
}

func TestWhatARecurringReminderSays(t *testing.T) {
	row, err := schedule.Remind("rem_1", "s", stage.User, contract.NewReminder{Purpose: "ci", Every: "1h", Prompt: "Look at CI.", Until: "CI is green."}, time.Unix(0, 0))
	must(t, err)
	want := "Look at CI.\n\n[Reminder rem_1, firing 2. It goes on until: CI is green. If that is so, cancel it.]"
	if diff := cmp.Diff(want, row.Message(2)); diff != "" {
		t.Error(diff)
	}
	once, err := schedule.Remind("rem_1", "s", stage.User, contract.NewReminder{Purpose: "ci", Delay: "1h", Prompt: "Look at CI."}, time.Unix(0, 0))
	if must(t, err); once.Message(1) != "Look at CI." {
		t.Errorf("once: %q", once.Message(1))
	}
}

// TestExploreReminders: wherever a worker dies or an answer is lost, each firing is one message, and none is missing.
func TestExploreReminders(t *testing.T) {
	type act = func(context.Context) error
	begin := func(s *stage.Stage) act {
		return func(ctx context.Context) error {
			_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
			return err
		}
	}
	set := func(s *stage.Stage, n contract.NewReminder) act {
		return func(ctx context.Context) error {
			_, err := remind(ctx, s, n, "k")
			return err
		}
	}
	flows := []struct {
		name  string
		acts  func(s *stage.Stage) []act
		fires []int // how many firings are right, from and to
		long  bool  // only the kills before calls, which are all points at which a worker can die
	}{
		{"a reminder that is near", func(s *stage.Stage) []act { return []act{set(s, contract.NewReminder{Delay: "30s", Prompt: "x"})} }, []int{1, 1}, false},
		{"a recurring reminder through ten firings", func(s *stage.Stage) []act {
			return []act{set(s, contract.NewReminder{Every: "10m", MaxFires: 10, Prompt: "x"})}
		}, []int{10, 10}, true},
		{"one that is cancelled after it fired", func(s *stage.Stage) []act {
			return []act{set(s, contract.NewReminder{Every: "10m", Prompt: "x"}), passing(s, 10*time.Minute), cancelling(s)}
		}, []int{0, 9}, false}, // none where the alarm is lost: the cancel comes before the sweep
		{"one whose conversation is deleted", func(s *stage.Stage) []act {
			return []act{set(s, contract.NewReminder{Every: "10m", Prompt: "x"}), deleting(s)}
		}, nil, false},
	}
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			explored := fake.Flow{Name: f.name, Pairs: 20, Seed: 3}
			if f.long {
				explored.Pairs, explored.Modes = 0, []fake.Mode{fake.KillBefore}
			}
			explored.New = func() *fake.Run {
				p := &stage.Play{Stage: stage.New(&fake.Model{})}
				p.Bus.Duplicate = func(fake.Event) int { return 1 }
				p.Acts = append([]act{begin(p.Stage)}, f.acts(p.Stage)...)
				return p.Run(nil, func() error { return remindedOnce(p.Stage, f.fires) })
			}
			fake.Explore(t, explored)
		})
	}
}

// remindedOnce checks that no firing was told twice, that there were as many as are right, and that nothing waits.
func remindedOnce(s *stage.Stage, fires []int) error {
	if left := s.Alarm.Names(); len(left) > 0 {
		return fmt.Errorf("alarms left: %v", left)
	}
	if fires == nil {
		for _, row := range s.Dynamo.Items("") {
			if parsed, ok := stage.Parse(row); ok && parsed.Kind == "reminder" {
				return fmt.Errorf("a reminder is left: %v", parsed)
			}
		}
		return nil
	}
	all, err := reminded(context.Background(), s)
	if err != nil {
		return err
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != len(all) || n < fires[0] || n > fires[1] {
		return fmt.Errorf("told %d times, %d different, want %v", len(all), n, fires)
	}
	return s.Check(id)
}

// passing lets time pass and what is due then happen.
func passing(s *stage.Stage, d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := s.Drain(ctx); err != nil {
			return err
		}
		s.Clock.Advance(d)
		s.Alarm.Tick()
		return s.Drain(ctx)
	}
}

func cancelling(s *stage.Stage) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := s.Reminders().Cancel(ctx, flow.RemindersOf{SessionID: id, Caller: stage.User})
		return err
	}
}

func deleting(s *stage.Stage) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := flow.DeleteSession{Edges: s.Edges, Alarms: s.Later}.Do(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
		return err
	}
}

// TestWhoeverFires steps two or three workers that were told of the same firing, with a person who cancels, against one table.
func TestWhoeverFires(t *testing.T) {
	fire := func(s *stage.Stage, at contract.Instant, reminderID string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := s.FireReminder().Do(ctx, contract.FireReminder{ReminderID: reminderID, At: at})
			return err
		}
	}
	cases := []struct {
		name    string
		workers func(s *stage.Stage, fire func(context.Context) error) []func(context.Context) error
		fires   []int
	}{
		{"two workers fire", func(_ *stage.Stage, f func(context.Context) error) []func(context.Context) error {
			return []func(context.Context) error{f, f}
		}, []int{1, 1}},
		{"three workers fire", func(_ *stage.Stage, f func(context.Context) error) []func(context.Context) error {
			return []func(context.Context) error{f, f, f}
		}, []int{1, 1}},
		{"a worker fires and a person cancels", func(s *stage.Stage, f func(context.Context) error) []func(context.Context) error {
			return []func(context.Context) error{f, cancelling(s)}
		}, []int{0, 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fake.ExploreSteps(t, fake.Steps{Name: c.name, Kill: true, Cap: 100, Random: 40, New: func() *fake.Meeting {
				s := stage.New(&fake.Model{})
				ctx := context.Background()
				_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
				r, err2 := remind(ctx, s, contract.NewReminder{Delay: "10m", Prompt: "x"}, "k")
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				s.Clock.Advance(10 * time.Minute)
				return &fake.Meeting{World: s.World, Workers: c.workers(s, fire(s, r.NextFireAt, r.ReminderID)), Recover: s.Recover, Check: func() error {
					return remindedOnce(s, c.fires)
				}}
			}})
		})
	}
}

// TestRemindersNameHandlersThatThereAre, where the program's are known.
func TestRemindersNameHandlersThatThereAre(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "c")
		must(t, err)
		known, err := schedule.ReminderHandlers()
		must(t, err)
		f, thrice := s.Reminders(), schedule.ReminderHandler{Name: "thrice", Run: func(context.Context, schedule.Tick) (schedule.Action, error) { return schedule.Stop, nil }}
		for _, tt := range []struct {
			name  string
			known []schedule.ReminderHandler
			want  fault.Code
		}{
			{"it is there", []schedule.ReminderHandler{thrice}, ""},
			{"the program has none", known, fault.Invalid},
			{"nobody knows", nil, ""},
		} {
			f.Known = tt.known
			_, err := f.Create(ctx, flow.RemindIn{SessionID: id, Caller: stage.User, Reminder: contract.NewReminder{Purpose: "x", Every: "1h", Run: "thrice"}})
			if fault.CodeOf(err) != tt.want {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
		}
	})
}
