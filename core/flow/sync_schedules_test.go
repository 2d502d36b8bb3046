package flow_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/later"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// deployed is the sync of a program whose files are given as id and cron, with a zone behind a blank.
func deployed(t *testing.T, s *stage.Stage, crons map[string]string) flow.SyncSchedules {
	t.Helper()
	files := fstest.MapFS{}
	for id, cron := range crons {
		cron, zone, _ := strings.Cut(cron, " in ")
		head := "---\ncron: \"" + cron + "\"\n"
		if zone != "" {
			head += "timezone: " + zone + "\n"
		}
		files[id+".md"] = &fstest.MapFile{Data: []byte(head + "---\nGo.")}
	}
	set, err := schedule.NewSet(files)
	must(t, err)
	events := s.Later
	events.Group = "app-files"
	return flow.SyncSchedules{Group: later.Group{Events: events, Lister: s.Alarm}, Schedules: set}
}

// stands lists the schedules that there are, with their expressions.
func stands(t *testing.T, s *stage.Stage) string {
	t.Helper()
	var all []string
	for _, id := range s.Alarm.Names() {
		group, name, _ := strings.Cut(id, "/")
		got, err := s.Alarm.GetSchedule(context.Background(), &scheduler.GetScheduleInput{GroupName: &group, Name: &name})
		must(t, err)
		all = append(all, id+" "+*got.ScheduleExpression+" "+*got.ScheduleExpressionTimezone)
	}
	return strings.Join(all, "\n")
}

func TestSyncSchedules(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		must(t, s.Later.Put(ctx, bus.Schedule{Name: "other", Expression: "at(2026-06-01T00:00:00)", Source: "a", DetailType: "b", Detail: "{}"}))
		first := deployed(t, s, map[string]string{"a": "0 9 * * *", "b": "0 0 13 * 5", "c": "@daily in Europe/Berlin"})
		for range 2 {
			must(t, first.Do(ctx, false))
			want := "app-files/file.a cron(0 9 * * ? *) UTC\napp-files/file.b cron(0 0 13 * ? *) UTC\napp-files/file.b.2 cron(0 0 ? * 6 *) UTC\n" +
				"app-files/file.c cron(0 0 * * ? *) Europe/Berlin\ndefault/other at(2026-06-01T00:00:00) UTC"
			if diff := cmp.Diff(want, stands(t, s)); diff != "" {
				t.Errorf("deployed (-want +got):\n%s", diff)
			}
		}
		must(t, deployed(t, s, map[string]string{"b": "0 0 * * 5", "d": "@hourly"}).Do(ctx, false))
		want := "app-files/file.b cron(0 0 ? * 6 *) UTC\napp-files/file.d cron(0 * * * ? *) UTC\ndefault/other at(2026-06-01T00:00:00) UTC"
		if diff := cmp.Diff(want, stands(t, s)); diff != "" {
			t.Errorf("changed (-want +got):\n%s", diff)
		}
		must(t, first.Do(ctx, false)) // a rollback
		if got := stands(t, s); strings.Contains(got, "file.d") || strings.Count(got, "\n") != 4 {
			t.Errorf("rolled back:\n%s", got)
		}
		off := first
		off.Off = true
		must(t, off.Do(ctx, false))
		if got := stands(t, s); got != "default/other at(2026-06-01T00:00:00) UTC" {
			t.Errorf("switched off:\n%s", got)
		}
		must(t, first.Do(ctx, false), first.Do(ctx, true), first.Do(ctx, true))
		if got := stands(t, s); got != "default/other at(2026-06-01T00:00:00) UTC" {
			t.Errorf("the stack is deleted:\n%s", got)
		}
	})
}

// TestSyncManySchedules: more than a page of them.
func TestSyncManySchedules(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		crons := map[string]string{}
		for n := range 150 {
			crons[fmt.Sprintf("s%03d", n)] = "@daily"
		}
		must(t, deployed(t, s, crons).Do(ctx, false))
		if n := len(s.Alarm.Names()); n != 150 {
			t.Errorf("%d schedules, want 150", n)
		}
		must(t, deployed(t, s, nil).Do(ctx, true))
		if left := s.Alarm.Names(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestDeployedSchedulesFire: what the scheduler makes of a schedule is a firing that runs.
func TestDeployedSchedulesFire(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		sync := deployed(t, s, map[string]string{"a": "30 9 * * *"})
		must(t, sync.Do(ctx, false))
		s.Program = sync.Schedules
		must(t, s.Recover(ctx))
		if diff := cmp.Diff([]string{"SESSION#schedule-a-20260101T093000.000"}, sessionsOf(s)); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
		must(t, s.Check("schedule-a-20260101T093000.000"))
	})
}

// TestEitherDayIsOneFiring: a minute that two schedules of one id name is one session.
func TestEitherDayIsOneFiring(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Clock.Set(time.Date(2026, 2, 12, 12, 0, 0, 0, time.UTC)) // the 13th is a Friday
		sync := deployed(t, s, map[string]string{"a": "0 0 13 * 5"})
		must(t, sync.Do(ctx, false))
		s.Program = sync.Schedules
		must(t, s.Recover(ctx))
		if n := len(s.Bus.Of(contract.RunScheduleType)); n != 2 {
			t.Errorf("%d firings, want two", n)
		}
		if ids := sessionsOf(s); len(ids) != 1 {
			t.Errorf("sessions %v, want one", ids)
		}
	})
}

// TestExploreSync: a deployment, and the next one, whose call is cut off anywhere is finished by the call after it.
func TestExploreSync(t *testing.T) {
	before := map[string]string{"a": "0 9 * * *", "b": "0 0 13 * 5", "c": "@daily"}
	for name, after := range map[string]map[string]string{
		"create": before, "change": {"a": "0 10 * * *", "b": "0 0 13 * *", "d": "@daily"}, "delete": {},
	} {
		fake.Explore(t, fake.Flow{Name: "sync schedules: " + name, Pairs: 30, Seed: 9, New: func() *fake.Run {
			s := stage.New(&fake.Model{})
			if name != "create" {
				world := s.Alarm.World
				s.Alarm.World = nil
				must(t, deployed(t, s, before).Do(context.Background(), false))
				s.Alarm.World = world
			}
			sync := deployed(t, s, after)
			return &fake.Run{World: s.World, Do: func(ctx context.Context) error { return sync.Do(ctx, name == "delete") }, End: func() string {
				s.Alarm.World = nil
				return stands(t, s)
			}}
		}})
	}
}

// TestSyncOfSchedulesThatAreWrong tells the deployment why, changes nothing, and still takes all away when the stack goes.
func TestSyncOfSchedulesThatAreWrong(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		sound := deployed(t, s, map[string]string{"a": "0 9 * * *", "b": "@daily"})
		must(t, sound.Do(ctx, false))
		before := stands(t, s)
		wrong := sound
		wrong.Schedules, wrong.Wrong = schedule.NewSet(fstest.MapFS{"a.md": {Data: []byte("---\ncron: \"@noon\"\n---\nGo.")}})
		if err := wrong.Do(ctx, false); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "a.md: cron") || stands(t, s) != before {
			t.Errorf("Do = %v; there stands\n%s", err, stands(t, s))
		}
		must(t, wrong.Do(ctx, true))
		if left := stands(t, s); left != "" {
			t.Errorf("the stack leaves\n%s", left)
		}
	})
}
