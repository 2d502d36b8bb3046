package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/schedule"
)

// TestFirings has a row for each status and moment.
func TestFirings(t *testing.T) {
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	claimed := schedule.FiringRow{ScheduleID: "a", At: now.UnixMilli()}.ClaimFirst("me", now)
	started := claimed.Start(10*time.Minute, now).To
	ended := started.End([]string{"s"}, "boom").To
	began := schedule.Began("a", now, "s", now)
	_, given := claimed.Sweep(now.Add(time.Hour), time.Minute)
	tests := []struct {
		name   string
		row    schedule.FiringRow
		after  time.Duration
		claim  bool
		remedy schedule.FiringRemedy
		status schedule.FiringStatus // after the remedy
	}{
		{"claimed", claimed, 10 * time.Second, false, schedule.LeaveFiring, ""},
		{"claimed, lease just over", claimed, 34 * time.Second, false, schedule.LeaveFiring, ""},
		{"claimed, lease over", claimed, 36 * time.Second, true, schedule.DeliverFiring, schedule.FiringClaimed},
		{"claimed, delivered again", given.To, time.Hour + time.Second, true, schedule.DeliverFiring, schedule.FiringClaimed},
		{"started", started, 9 * time.Minute, false, schedule.LeaveFiring, ""},
		{"started, lease over", started, 11 * time.Minute, false, schedule.FiringCountLost, schedule.FiringLost},
		{"done", ended, 24 * time.Hour, false, schedule.LeaveFiring, ""},
		{"of a file", began, 24 * time.Hour, false, schedule.LeaveFiring, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			at := now.Add(tc.after)
			if c, ok := tc.row.Claim("other", at); ok != tc.claim || ok && (c.To.Owner != "other" || c.To.DueSK == "") {
				t.Errorf("Claim = %+v, %t, want %t", c.To, ok, tc.claim)
			}
			remedy, c := tc.row.Sweep(at, time.Minute)
			if remedy != tc.remedy || c.To.Status != tc.status {
				t.Errorf("Sweep = %s, %+v, want %s, %s", remedy, c.To, tc.remedy, tc.status)
			}
			if over := remedy == schedule.FiringCountLost; over && (c.To.DueSK != "" || c.To.Owner != "") {
				t.Errorf("what is over is still due: %+v", c.To)
			}
		})
	}
	if ended.DueSK != "" || ended.Owner != "" || ended.Error != "boom" || !cmp.Equal(ended.Sessions, []string{"s"}) {
		t.Errorf("End = %+v", ended)
	}
	if started.DueSK <= claimed.DueSK {
		t.Errorf("a started one is due at %s, before its lease ends", started.DueSK)
	}
}
