package schedule_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

func TestReminderHandlers(t *testing.T) {
	run := func(context.Context, schedule.Tick) (schedule.Action, error) { return schedule.Skip, nil }
	all, err := schedule.ReminderHandlers(schedule.ReminderHandler{Name: "a", Run: run}, schedule.ReminderHandler{Name: "b", Run: run})
	if err != nil || len(all) != 2 {
		t.Errorf("sound ones: %d, %v", len(all), err)
	}
	_, err = schedule.ReminderHandlers(schedule.ReminderHandler{Name: "a", Run: run}, schedule.ReminderHandler{Name: "a", Run: run}, schedule.ReminderHandler{Name: "none"}, schedule.ReminderHandler{Run: run})
	for _, want := range []string{"a: there are two", "none: Run is missing", `reminder handler ""`} {
		if err == nil || !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want Invalid with %q", err, want)
		}
	}
}

// TestRan: what a handler made of a firing decides how its reminder goes on.
func TestRan(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	every, err := schedule.Remind("rem_1", "s", contract.Principal{ID: "u"}, contract.NewReminder{Purpose: "p", Every: "1h", Run: "a", MaxFires: 9}, now)
	if err != nil {
		t.Fatal(err)
	}
	last := every
	last.FireCount = 8
	failed := every
	failed.Reason = schedule.HandlerFailed
	tests := []struct {
		name   string
		row    schedule.ReminderRow
		firing schedule.FiringRow
		status schedule.Status
		reason string
	}{
		{"delivered", every, schedule.FiringRow{Action: schedule.Delivered}, schedule.Active, ""},
		{"skipped, after one that failed", failed, schedule.FiringRow{Action: schedule.Skip}, schedule.Active, ""},
		{"failed", every, schedule.FiringRow{Error: "boom"}, schedule.Active, schedule.HandlerFailed},
		{"lost", every, schedule.FiringRow{Status: schedule.FiringLost}, schedule.Active, schedule.HandlerFailed},
		{"stopped", every, schedule.FiringRow{Action: schedule.Stop}, schedule.Done, ""},
		{"the last", last, schedule.FiringRow{Action: schedule.Skip}, schedule.Done, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.row.Ran(tc.firing, now.Add(time.Hour)).To
			if got.Status != tc.status || got.Reason != tc.reason || got.FireCount != tc.row.FireCount+1 || (got.DueSK == "") != (tc.status == schedule.Done) {
				t.Errorf("Ran = %+v", got)
			}
		})
	}
}

// TestFar: the sweep looks at a far reminder every two weeks, and then a minute after its time.
func TestFar(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r, err := schedule.Remind("rem_1", "s", contract.Principal{ID: "u"}, contract.NewReminder{Purpose: "p", Delay: "30d", Prompt: "x"}, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{14 * day, 28 * day} {
		if _, ok := r.Far(now.Add(at - time.Minute)); ok {
			t.Errorf("looked at before %s", at)
		}
		c, ok := r.Far(now.Add(at + time.Second))
		if !ok {
			t.Fatalf("not looked at after %s", at)
		}
		r = c.To
	}
	if _, ok := r.Late(now.Add(30*day+30*time.Second), time.Minute); ok {
		t.Error("late half a minute after its time")
	}
	after := now.Add(30*day + 61*time.Second)
	if _, ok := r.Far(after); ok {
		t.Error("far when its time has come")
	}
	if _, ok := r.Late(after, time.Minute); !ok {
		t.Error("not late a minute after its time")
	}
}
