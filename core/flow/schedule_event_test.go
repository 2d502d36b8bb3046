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

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/later"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// thing is an event that is asked for later.
func thing(n int) contract.ScheduledEvent {
	return contract.ScheduledEvent{DetailType: "Thing Happened", Detail: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
}

// ask hands an event over as if it had the id and had been put now.
func ask(ctx context.Context, s *stage.Stage, eventID string, d contract.ScheduleEvent) (flow.Outcome, error) {
	return askAt(ctx, s, eventID, s.Clock.Now(), d)
}

func askAt(ctx context.Context, s *stage.Stage, eventID string, at time.Time, d contract.ScheduleEvent) (flow.Outcome, error) {
	return flow.ScheduleEvent{Edges: s.Edges, Later: s.Later}.Do(ctx, flow.Asked[contract.ScheduleEvent]{Detail: d, EventID: eventID, Time: at})
}

func askNot(ctx context.Context, s *stage.Stage, eventID, name string) (flow.Outcome, error) {
	in := flow.Asked[contract.CancelScheduledEvent]{Detail: contract.CancelScheduledEvent{Name: name}, EventID: eventID, Time: s.Clock.Now()}
	return flow.ScheduleEvent{Edges: s.Edges, Later: s.Later}.Cancel(ctx, in)
}

// things lists what came, once each, and the schedules that wait.
func things(s *stage.Stage) string {
	var all []string
	for _, e := range s.Bus.Of("Thing Happened") {
		all = append(all, string(e.Detail))
	}
	slices.Sort(all)
	return fmt.Sprint(slices.Compact(all), s.Alarm.Names())
}

func TestScheduleEvent(t *testing.T) {
	tests := []struct {
		name string
		d    contract.ScheduleEvent
		want flow.Outcome
		when string // of what comes in the end, after the beginning
	}{
		{"a delay", contract.ScheduleEvent{Delay: "1h30m", Event: thing(1)}, flow.Scheduled, "1h30m0s"},
		{"an instant", contract.ScheduleEvent{At: "2026-01-01T03:00:00+01:00", Event: thing(1)}, flow.Scheduled, "2h0m0s"},
		{"a wall time", contract.ScheduleEvent{At: "2026-01-02T00:00", TimeZone: "America/New_York", Event: thing(1)}, flow.Scheduled, "29h0m0s"},
		{"a date", contract.ScheduleEvent{At: "2026-01-03", Event: thing(1)}, flow.Scheduled, "48h0m0s"},
		{"a gap", contract.ScheduleEvent{At: "2026-03-08T02:30", TimeZone: "America/New_York", Event: thing(1)}, flow.Scheduled, "1591h0m0s"},
		{"now", contract.ScheduleEvent{Delay: "0", Event: thing(1)}, flow.SentNow, "0s"},
		{"P18: past is sent", contract.ScheduleEvent{At: "2025-12-31", Event: thing(1)}, flow.SentNow, "0s"},
		{"P18: past is sent when told so", contract.ScheduleEvent{At: "2025-12-31", WhenPast: "send", Event: thing(1)}, flow.SentNow, "0s"},
		{"P18: past is skipped when told so", contract.ScheduleEvent{At: "2025-12-31", WhenPast: "skip", Event: thing(1)}, flow.Skipped, ""},
		{"P18: past is an error when told so", contract.ScheduleEvent{At: "2025-12-31", WhenPast: "error", Event: thing(1)}, flow.Refused, ""},
		{"near", contract.ScheduleEvent{Delay: "10s", Event: thing(1)}, flow.Scheduled, "1m0s"},
		{"no detail", contract.ScheduleEvent{Delay: "1h", Event: contract.ScheduledEvent{DetailType: "Thing Happened"}}, flow.Scheduled, "1h0m0s"},
		{"neither", contract.ScheduleEvent{Event: thing(1)}, flow.Refused, ""},
		{"both", contract.ScheduleEvent{At: "2026-01-03", Delay: "1h", Event: thing(1)}, flow.Refused, ""},
		{"no type", contract.ScheduleEvent{Delay: "1h"}, flow.Refused, ""},
		{"P21: schedules itself", contract.ScheduleEvent{Delay: "1h", Event: contract.ScheduledEvent{DetailType: contract.ScheduleEventType}}, flow.Refused, ""},
		{"a year and more", contract.ScheduleEvent{At: "2027-02-01", Event: thing(1)}, flow.Refused, ""},
		{"no time", contract.ScheduleEvent{At: "soon", Event: thing(1)}, flow.Refused, ""},
		{"no zone", contract.ScheduleEvent{At: "2026-01-03", TimeZone: "Mars/Base", Event: thing(1)}, flow.Refused, ""},
		{"AWS's source", contract.ScheduleEvent{Delay: "1h", Event: contract.ScheduledEvent{Source: "aws.s3", DetailType: "x"}}, flow.Refused, ""},
		{"a list", contract.ScheduleEvent{Delay: "1h", Event: contract.ScheduledEvent{DetailType: "x", Detail: json.RawMessage(`[]`)}}, flow.Refused, ""},
		{"too large", contract.ScheduleEvent{Delay: "1h", Event: contract.ScheduledEvent{DetailType: "x",
			Detail: json.RawMessage(`{"blob":"` + strings.Repeat("x", later.MaxInput) + `"}`)}}, flow.Refused, ""},
		{"whenPast is unknown", contract.ScheduleEvent{Delay: "1h", WhenPast: "maybe", Event: thing(1)}, flow.Refused, ""},
		{"ifExists is unknown", contract.ScheduleEvent{Delay: "1h", IfExists: "maybe", Event: thing(1)}, flow.Refused, ""},
		{"the name is too long", contract.ScheduleEvent{Name: strings.Repeat("x", 257), Delay: "1h", Event: thing(1)}, flow.Refused, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				began := s.Clock.Now()
				got, err := ask(ctx, s, "event-1", tc.d)
				if err != nil || got != tc.want {
					t.Fatalf("Do = %q, %v, want %q", got, err, tc.want)
				}
				when := ""
				must(t, s.Recover(ctx))
				if came := s.Bus.Of("Thing Happened"); len(came) > 0 {
					when = came[0].Time.Sub(began).String()
				}
				if when != tc.when {
					t.Errorf("it came after %q, want %q", when, tc.when)
				}
			})
		})
	}
}

// TestDelaysCountFromTheAsking: a delivery that comes late is neither late nor past on that account.
func TestDelaysCountFromTheAsking(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		asked := s.Clock.Now()
		s.Clock.Advance(10 * time.Minute)
		got, err := askAt(ctx, s, "e-1", asked, contract.ScheduleEvent{Delay: "1h", Event: thing(1)})
		must(t, err, s.Recover(ctx))
		if came := s.Bus.Of("Thing Happened"); got != flow.Scheduled || len(came) != 1 || came[0].Time.Sub(asked) != time.Hour {
			t.Errorf("%s: %v, want it an hour after it was asked for", got, came)
		}
		s.Clock.Advance(time.Minute)
		asked = s.Clock.Now()
		s.Clock.Advance(10 * time.Minute)
		got, err = askAt(ctx, s, "e-2", asked, contract.ScheduleEvent{Delay: "5m", WhenPast: "skip", Event: thing(2)})
		if must(t, err); got != flow.SentNow {
			t.Errorf("one that was not past when it was asked for is %s", got)
		}
	})
}

// TestLateCopies: a copy of an event that comes after what was asked since changes nothing, however often.
func TestLateCopies(t *testing.T) {
	first := contract.ScheduleEvent{Name: "a", Delay: "1h", Event: thing(1)}
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		began := s.Clock.Now()
		copyOf := func(want flow.Outcome) {
			t.Helper()
			if got, err := askAt(ctx, s, "e-1", began, first); err != nil || got != want {
				t.Errorf("the first event's copy = %q, %v, want %q", got, err, want)
			}
		}
		copyOf(flow.Scheduled)
		copyOf(flow.Outdated)
		s.Clock.Advance(2 * time.Second)
		_, err := ask(ctx, s, "e-2", contract.ScheduleEvent{Name: "a", Delay: "2h", Event: thing(2)})
		must(t, err)
		copyOf(flow.Outdated)
		s.Clock.Advance(2 * time.Second)
		got, err := askNot(ctx, s, "e-3", "a")
		if must(t, err); got != flow.Cancelled {
			t.Errorf("Cancel = %s", got)
		}
		copyOf(flow.Outdated)
		must(t, s.Recover(ctx))
		if got := things(s); got != "[] []" {
			t.Errorf("after the cancel: %s", got)
		}
		s.Clock.Advance(2 * time.Second)
		_, err = ask(ctx, s, "e-4", contract.ScheduleEvent{Name: "a", Delay: "1h", Event: thing(4)})
		must(t, err, s.Recover(ctx), s.Recover(ctx))
		copyOf(flow.Outdated)
		if diff := cmp.Diff(`[{"n":4}] []`, things(s)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestCancelWithoutAName is refused, as is one of something that is no name.
func TestCancelWithoutAName(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		for _, name := range []string{"", "\x00", strings.Repeat("x", 300)} {
			if got, err := askNot(ctx, s, "e", name); err != nil || got != flow.Refused {
				t.Errorf("Cancel(%q) = %s, %v", name, got, err)
			}
		}
		if got, err := askNot(ctx, s, "e", "nothing of this name"); err != nil || got != flow.Cancelled {
			t.Errorf("cancel of nothing = %s, %v", got, err)
		}
	})
}

// TestTaskLater: a task's deliveries are one, whether it is near or far, and the run waits for the second.
func TestTaskLater(t *testing.T) {
	for _, delay := range []contract.LooseText{"20s", "3h", "0"} {
		bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			began := s.Clock.Now()
			d := contract.ScheduleEvent{Delay: delay, Event: contract.ScheduledEvent{
				DetailType: contract.RunAgentTask, Detail: json.RawMessage(`{"taskId":"t-1","principal":{"type":"system","id":"x"},"request":"go"}`),
			}}
			_, err := ask(ctx, s, "e-1", d)
			must(t, err)
			for range 3 {
				must(t, s.Recover(ctx))
			}
			r, err := s.Edges.Table.Task(ctx, "t-1")
			must(t, err, s.Check())
			want, _ := time.ParseDuration(string(delay) + "s")
			if r.Status != task.Completed || r.LastDelivery != "e-1" || time.UnixMilli(r.CreatedAt).Before(began.Add(want)) {
				t.Errorf("delay %s: task %+v", delay, r)
			}
		})
	}
}

// TestExploreScheduledEvents: wherever an app, the function or an answer is lost, each event comes, none comes twice in kind, and
// nothing is left.
func TestExploreScheduledEvents(t *testing.T) {
	publish := func(s *stage.Stage, kind string, detail any) func(context.Context) error {
		return func(ctx context.Context) error {
			s.Clock.Advance(2 * time.Second)
			return s.Edges.Bus.Publish(ctx, bus.Event{DetailType: kind, Detail: detail})
		}
	}
	later := func(name string, delay contract.LooseText, n int) contract.ScheduleEvent {
		return contract.ScheduleEvent{Name: name, Delay: delay, Event: thing(n)}
	}
	flows := []struct {
		name string
		asks []any
		want string
	}{
		{"schedule an event", []any{later("a", "10m", 1)}, `[{"n":1}] []`},
		{"schedule an event that is near", []any{later("a", "30s", 1)}, `[{"n":1}] []`},
		{"schedule an event for now", []any{later("a", "0", 1)}, `[{"n":1}] []`},
		{"move an event", []any{later("a", "10m", 1), later("a", "20m", 2)}, `[{"n":2}] []`},
		{"move an event to now", []any{later("a", "10m", 1), later("a", "0", 2)}, `[{"n":2}] []`},
		{"cancel an event", []any{later("a", "10m", 1), later("b", "10m", 2), contract.CancelScheduledEvent{Name: "a"}}, `[{"n":2}] []`},
		{"cancel and schedule again", []any{later("a", "10m", 1), contract.CancelScheduledEvent{Name: "a"}, later("a", "5m", 3)}, `[{"n":3}] []`},
	}
	for _, f := range flows {
		for _, copies := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, %d copies", f.name, copies), func(t *testing.T) {
				fake.Explore(t, fake.Flow{Name: f.name, Pairs: 20, Seed: 7, New: func() *fake.Run {
					p := &stage.Play{Stage: stage.New(&fake.Model{})}
					p.Bus.Duplicate = func(fake.Event) int { return copies }
					for _, a := range f.asks {
						kind := contract.ScheduleEventType
						if _, ok := a.(contract.CancelScheduledEvent); ok {
							kind = contract.CancelScheduledEventType
						}
						p.Acts = append(p.Acts, publish(p.Stage, kind, a), p.Drain)
					}
					return p.Run(func() string { return things(p.Stage) }, func() error {
						if got := things(p.Stage); got != f.want {
							return fmt.Errorf("came and left: %s, want %s", got, f.want)
						}
						return nil
					})
				}})
			})
		}
	}
}
