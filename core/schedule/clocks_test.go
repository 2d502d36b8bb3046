package schedule_test

import (
	"fmt"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/internal/awstime"
)

// changes are wall times that a zone skips or shows twice in 2026, and the instants that stand for them, worked out by hand.
var changes = []struct{ zone, skipped, after, repeated, first string }{
	{"America/New_York", "2026-03-08T02:30", "2026-03-08T07:00", "2026-11-01T01:30", "2026-11-01T05:30"},
	{"America/Chicago", "2026-03-08T02:30", "2026-03-08T08:00", "2026-11-01T01:30", "2026-11-01T06:30"},
	{"America/Los_Angeles", "2026-03-08T02:00", "2026-03-08T10:00", "2026-11-01T01:59", "2026-11-01T08:59"},
	{"America/St_Johns", "2026-03-08T02:30", "2026-03-08T05:30", "2026-11-01T01:30", "2026-11-01T04:00"},
	{"America/Havana", "2026-03-08T00:30", "2026-03-08T05:00", "2026-11-01T00:30", "2026-11-01T04:30"},
	{"America/Santiago", "2026-09-06T00:30", "2026-09-06T04:00", "2026-04-04T23:30", "2026-04-05T02:30"},
	{"Europe/London", "2026-03-29T01:30", "2026-03-29T01:00", "2026-10-25T01:30", "2026-10-25T00:30"},
	{"Europe/Dublin", "2026-03-29T01:30", "2026-03-29T01:00", "2026-10-25T01:30", "2026-10-25T00:30"},
	{"Europe/Berlin", "2026-03-29T02:59", "2026-03-29T01:00", "2026-10-25T02:00", "2026-10-25T00:00"},
	{"Europe/Athens", "2026-03-29T03:30", "2026-03-29T01:00", "2026-10-25T03:30", "2026-10-25T00:30"},
	{"Africa/Cairo", "2026-04-24T00:30", "2026-04-23T22:00", "2026-10-29T23:30", "2026-10-29T20:30"},
	{"Africa/Casablanca", "2026-03-22T02:30", "2026-03-22T02:00", "2026-02-15T02:30", "2026-02-15T01:30"},
	{"Asia/Beirut", "2026-03-29T00:30", "2026-03-28T22:00", "2026-10-24T23:30", "2026-10-24T20:30"},
	{"Asia/Jerusalem", "2026-03-27T02:30", "2026-03-27T00:00", "2026-10-25T01:30", "2026-10-24T22:30"},
	{"Australia/Sydney", "2026-10-04T02:30", "2026-10-03T16:00", "2026-04-05T02:30", "2026-04-04T15:30"},
	{"Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30", "2026-04-05T01:45", "2026-04-04T14:45"},
	{"Pacific/Auckland", "2026-09-27T02:30", "2026-09-26T14:00", "2026-04-05T02:30", "2026-04-04T13:30"},
	{"Pacific/Chatham", "2026-09-27T03:00", "2026-09-26T14:00", "2026-04-05T03:00", "2026-04-04T13:15"},
	{"Antarctica/Troll", "2026-03-29T01:30", "2026-03-29T01:00", "2026-10-25T01:30", "2026-10-24T23:30"},
}

const minutes = "2006-01-02T15:04"

func utc(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(minutes, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestP20OneTime: one-time wall times in gaps and overlaps.
func TestP20OneTime(t *testing.T) {
	for _, c := range changes {
		zone, err := schedule.Zone(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		for wall, want := range map[string]string{c.skipped: c.after, c.repeated: c.first} {
			if got, err := schedule.ParseAt(wall, zone); err != nil || got.Format(minutes) != want {
				t.Errorf("%s %s = %s, %v, want %s", c.zone, wall, got.Format(minutes), err, want)
			}
		}
	}
}

// TestP20Recurring: a daily cron over three days around each change, by both rules, and as Scheduler has it.
func TestP20Recurring(t *testing.T) {
	for _, c := range changes {
		t.Run(c.zone, func(t *testing.T) {
			skipped, repeated := utc(t, c.skipped), utc(t, c.repeated)
			if got := daily(t, c.zone, skipped, schedule.SkipGap); len(got) != 2 {
				t.Errorf("skipping: %v, want the day before and the day after", got)
			}
			got := daily(t, c.zone, skipped, schedule.AfterGap)
			if len(got) != 3 || got[1].Format(minutes) != c.after {
				t.Errorf("after the gap: %v, want three and %s in the middle", got, c.after)
			}
			got = daily(t, c.zone, repeated, schedule.SkipGap)
			if len(got) != 3 || got[1].Format(minutes) != c.first {
				t.Errorf("repeated: %v, want three and %s in the middle", got, c.first)
			}
			for _, wall := range []time.Time{skipped, repeated} {
				if diff := cmp.Diff(service(t, c.zone, wall), daily(t, c.zone, wall, schedule.SkipGap)); diff != "" {
					t.Errorf("%s: Scheduler fires otherwise (-its +ours):\n%s", wall.Format(minutes), diff)
				}
			}
		})
	}
}

// daily are the times of a cron at the wall time's time of day on its day and those around it.
func daily(t *testing.T, name string, wall time.Time, gap schedule.Gap) []time.Time {
	t.Helper()
	zone, err := schedule.Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := schedule.ParseCron(fmt.Sprintf("%d %d * * *", wall.Minute(), wall.Hour()))
	if err != nil {
		t.Fatal(err)
	}
	at, end := window(wall, zone)
	var all []time.Time
	for at = c.Next(at, zone, gap); at.Before(end); at = c.Next(at, zone, gap) {
		all = append(all, at)
	}
	return all
}

func service(t *testing.T, zone string, wall time.Time) []time.Time {
	t.Helper()
	loc, err := schedule.Zone(zone)
	if err != nil {
		t.Fatal(err)
	}
	e, err := awstime.Parse(fmt.Sprintf("cron(%d %d * * ? *)", wall.Minute(), wall.Hour()), loc)
	if err != nil {
		t.Fatal(err)
	}
	at, end := window(wall, loc)
	var all []time.Time
	for {
		next, ok := e.Next(at, at)
		if !ok || !next.Before(end) {
			return all
		}
		at, all = next, append(all, next.UTC())
	}
}

// window is from half a day after the wall time two days before to half a day after that of the next day.
func window(wall time.Time, zone *time.Location) (from, to time.Time) {
	middle := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, zone)
	return middle.Add(-36 * time.Hour), middle.Add(36 * time.Hour)
}

// TestP20HalfHours: what is due every half hour is due once in an hour that is repeated, and once at the end of one that is skipped.
func TestP20HalfHours(t *testing.T) {
	zone, err := schedule.Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	c, err := schedule.ParseCron("*/30 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		after string
		want  []string
	}{
		{"2026-03-29T00:10", []string{"00:30", "01:00", "01:30"}},          // 01:30, 03:00 (02:00 and 02:30 with it), 03:30
		{"2026-10-24T23:40", []string{"00:00", "00:30", "02:00", "02:30"}}, // 02:00, 02:30, not again, 03:00
	}
	for _, tc := range tests {
		var got []string
		for _, at := range c.Upcoming(utc(t, tc.after), zone, schedule.AfterGap, len(tc.want)) {
			got = append(got, at.Format("15:04"))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", tc.after, diff)
		}
	}
}

// TestDayThatIsSkipped: Samoa crossed the date line and had no 30 December 2011.
func TestDayThatIsSkipped(t *testing.T) {
	zone, err := schedule.Zone("Pacific/Apia")
	if err != nil {
		t.Fatal(err)
	}
	got, err := schedule.ParseAt("2011-12-30T12:00", zone)
	if want := "2011-12-30T10:00"; err != nil || got.Format(minutes) != want {
		t.Errorf("ParseAt = %s, %v, want the first instant after it, %s", got.Format(minutes), err, want)
	}
}
