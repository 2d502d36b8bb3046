package schedule_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

func TestParseDelay(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration // -1: refused
	}{
		{"90s", 90 * time.Second}, {"15m", 15 * time.Minute}, {"2h", 2 * time.Hour}, {"3d", 72 * time.Hour}, {"1h30m", 90 * time.Minute},
		{"1d2h3m4s", 26*time.Hour + 3*time.Minute + 4*time.Second}, {"45", 45 * time.Second}, {" 1h 30m ", 90 * time.Minute}, {"0", 0}, {"0s", 0},
		{"366d", schedule.MaxAhead}, {"31622400", schedule.MaxAhead},
		{"", -1}, {" ", -1}, {"-5m", -1}, {"1.5h", -1}, {"30m1h", -1}, {"1h1h", -1}, {"5M", -1}, {"1w", -1}, {"h", -1}, {"soon", -1}, {"1e3", -1},
		{"366d1s", -1}, {"367d", -1}, {"999999999d", -1}, {"99999999999", -1}, {"+5m", -1},
	}
	for _, tc := range tests {
		got, err := schedule.ParseDelay(tc.text)
		if tc.want < 0 {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("ParseDelay(%q) = %v, %v, want Invalid", tc.text, got, err)
			}
			continue
		}
		if err != nil || got != tc.want {
			t.Errorf("ParseDelay(%q) = %v, %v, want %v", tc.text, got, err, tc.want)
		}
	}
}

func TestParseAt(t *testing.T) {
	tests := []struct{ text, zone, want string }{
		{"2026-06-01T10:00:00Z", "", "2026-06-01T10:00:00Z"},
		{"2026-06-01T10:00:00.25Z", "", "2026-06-01T10:00:00.25Z"},
		{"2026-06-01T10:00:00+02:00", "America/New_York", "2026-06-01T08:00:00Z"},
		{"2026-06-01T10:00:00+0200", "", "2026-06-01T08:00:00Z"},
		{"2026-06-01T10:00+02:00", "", "2026-06-01T08:00:00Z"},
		{"2026-06-01T10:00", "", "2026-06-01T10:00:00Z"},
		{"2026-06-01 10:00", "Europe/Berlin", "2026-06-01T08:00:00Z"},
		{"2026-06-01T10:00:30", "Asia/Kolkata", "2026-06-01T04:30:30Z"},
		{"2026-06-01", "Europe/Berlin", "2026-05-31T22:00:00Z"},
		{" 2026-06-01 ", "", "2026-06-01T00:00:00Z"},
		{"2026-02-30", "", ""}, {"2026-06-01T25:00", "", ""}, {"tomorrow", "", ""}, {"", "", ""}, {"10:00", "", ""}, {"2026-06", "", ""},
	}
	for _, tc := range tests {
		zone, err := schedule.Zone(tc.zone)
		if err != nil {
			t.Fatal(err)
		}
		got, err := schedule.ParseAt(tc.text, zone)
		if tc.want == "" {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("ParseAt(%q) = %v, %v, want Invalid", tc.text, got, err)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339Nano) != tc.want {
			t.Errorf("ParseAt(%q) in %q = %v, %v, want %s", tc.text, tc.zone, got, err, tc.want)
		}
	}
}

// TestP18Expression: date and time to the second, no zone inside, never early.
func TestP18Expression(t *testing.T) {
	tests := []struct{ at, want string }{
		{"2026-06-01T10:00:00Z", "at(2026-06-01T10:00:00)"},
		{"2026-06-01T10:00:00.001Z", "at(2026-06-01T10:00:01)"},
		{"2026-06-01T12:00:00+02:00", "at(2026-06-01T10:00:00)"},
		{"2026-12-31T23:59:59.9Z", "at(2027-01-01T00:00:00)"},
	}
	for _, tc := range tests {
		at, err := time.Parse(time.RFC3339Nano, tc.at)
		if got := schedule.AtExpression(at); err != nil || got != tc.want {
			t.Errorf("AtExpression(%s) = %s, %v, want %s", tc.at, got, err, tc.want)
		}
	}
}

// TestFarEnough: what is near goes to the first full minute at least a minute away, never before it is due.
func TestFarEnough(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 30, 0, time.UTC)
	tests := []struct{ due, want string }{
		{"11:00:00", "12:02:00"}, {"12:00:30", "12:02:00"}, {"12:01:45", "12:02:00"}, {"12:02:00", "12:02:00"}, {"12:02:01", "12:02:01"},
		{"12:01:59", "12:02:00"}, {"13:00:17", "13:00:17"},
	}
	for _, tc := range tests {
		clock, err := time.Parse(time.TimeOnly, tc.due)
		if err != nil {
			t.Fatal(err)
		}
		due := time.Date(2026, 1, 1, clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
		if got := schedule.FarEnough(due, now); got.Format(time.TimeOnly) != tc.want {
			t.Errorf("FarEnough(%s) at %s = %s, want %s", tc.due, now.Format(time.TimeOnly), got.Format(time.TimeOnly), tc.want)
		}
	}
	whole := now.Truncate(time.Minute)
	if got := schedule.FarEnough(whole, whole); !got.Equal(whole.Add(time.Minute)) {
		t.Errorf("FarEnough on the minute = %s", got)
	}
}

// TestP18Names: one function, the service's characters and length, stable, no two ids with one name.
func TestP18Names(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-zA-Z\-_.]{1,64}$`)
	long := strings.Repeat("a", 90)
	ids := []string{
		"plain", "with-dash_and.dot", "a/b", "a:b", "a-b", "a b", "Ä", "é", "日本語", long, long + "b", long[:64], long[:65], "", "-", "/", "a/", "a-", "A/B",
		"reminder.x", "reminder-x", "file.x", "task-1", "1bb1f1a0-66cf-4f07-a5a8-8c9c7a5f2ab1", "x-0123456789abcdef0123456789abcdef",
	}
	seen := map[string]string{}
	for _, kind := range []schedule.Kind{schedule.Event, schedule.Reminder, schedule.File} {
		for _, id := range ids {
			name := schedule.Name(kind, id)
			if !form.MatchString(name) || name != schedule.Name(kind, id) {
				t.Errorf("Name(%q, %q) = %q", kind, id, name)
			}
			if other, taken := seen[name]; taken {
				t.Errorf("%s and %s|%s share %q", other, kind, id, name)
			}
			seen[name] = string(kind) + "|" + id
		}
	}
	if got := schedule.Name(schedule.Event, "plain"); got != "plain" {
		t.Errorf("a name that fits became %q", got)
	}
	for _, shortened := range []string{schedule.Name(schedule.Event, "a/b"), schedule.Name(schedule.Event, long)} {
		if again := schedule.Name(schedule.Event, shortened); again == shortened {
			t.Errorf("the id %q would share its name with another's", shortened)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("a/b", "a-b")
	f.Add("reminder.x", "x")
	form := regexp.MustCompile(`^[0-9a-zA-Z\-_.]{1,64}$`)
	f.Fuzz(func(t *testing.T, a, b string) {
		kinds := []schedule.Kind{schedule.Event, schedule.Reminder, schedule.File}
		for _, k := range kinds {
			for _, l := range kinds {
				x, y := schedule.Name(k, a), schedule.Name(l, b)
				if !form.MatchString(x) || x == y && (k != l || a != b) {
					t.Errorf("Name(%q, %q) = %q, Name(%q, %q) = %q", k, a, x, l, b, y)
				}
			}
		}
	})
}

func TestZone(t *testing.T) {
	for _, name := range []string{"Mars/Base", "Local", "../etc/passwd", "/etc/localtime", strings.Repeat("a", 51), "+02:00"} {
		if zone, err := schedule.Zone(name); !fault.Is(err, fault.Invalid) {
			t.Errorf("Zone(%q) = %v, %v, want Invalid", name, zone, err)
		}
	}
	if zone, err := schedule.Zone(""); err != nil || zone != time.UTC {
		t.Errorf("no zone = %v, %v, want UTC", zone, err)
	}
}

func TestWhen(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		when schedule.When
		want []string // first, next, next
		why  string   // of a refusal
	}{
		{"delay", schedule.When{Delay: "2h"}, []string{"03-28 14:00"}, ""},
		{"at", schedule.When{At: "2026-03-29T02:30", TimeZone: "Europe/Berlin"}, []string{"03-29 01:00"}, ""},
		{"past at", schedule.When{At: "2026-01-01"}, []string{"01-01 00:00"}, ""},
		{"every", schedule.When{Every: "90m"}, []string{"03-28 13:30", "03-28 15:00", "03-28 16:30"}, ""},
		{"cron", schedule.When{Cron: "30 2 * * *", TimeZone: "Europe/Berlin"}, []string{"03-29 01:00", "03-30 00:30", "03-31 00:30"}, ""},
		{"cron in UTC", schedule.When{Cron: "0 9 * * MON"}, []string{"03-30 09:00", "04-06 09:00", "04-13 09:00"}, ""},
		{"none", schedule.When{}, nil, "not 0"},
		{"two", schedule.When{Delay: "1h", Cron: "@daily"}, nil, "not 2"},
		{"too often", schedule.When{Every: "59s"}, nil, "less than a minute"},
		{"no distance", schedule.When{Every: "often"}, nil, "every:"},
		{"too far", schedule.When{At: "2027-06-01"}, nil, "more than a year"},
		{"no zone", schedule.When{Cron: "@daily", TimeZone: "Mars/Base"}, nil, "timezone:"},
		{"bad cron", schedule.When{Cron: "@noon"}, nil, "cron:"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p, err := tc.when.Read(now)
			if tc.why != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tc.why) {
					t.Errorf("Read = %v, want Invalid with %q", err, tc.why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for at := p.First(now); !at.IsZero() && len(got) < 3; at = p.Next(at, at) {
				got = append(got, at.Format("01-02 15:04"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || p.Recurring() != (len(tc.want) > 1) {
				t.Errorf("recurring %t, times (-want +got):\n%s", p.Recurring(), diff)
			}
		})
	}
}

// TestMissedTimes: after a pause the next time is ahead, in step with what was.
func TestMissedTimes(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p, err := schedule.When{Every: "7m"}.Read(start)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Next(start, start.Add(20*time.Minute)); !got.Equal(start.Add(21 * time.Minute)) {
		t.Errorf("Next = %s, want 00:21", got)
	}
	if got := p.Next(start, start.Add(21*time.Minute)); !got.Equal(start.Add(28 * time.Minute)) {
		t.Errorf("Next = %s, want 00:28", got)
	}
	c, err := schedule.When{Cron: "0 9 * * *"}.Read(start)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Next(start, start.Add(240*time.Hour)); !got.Equal(start.Add(249 * time.Hour)) {
		t.Errorf("Next = %s, want the eleventh at nine", got)
	}
}

func ExampleName() {
	fmt.Println(schedule.Name(schedule.Event, "nightly"))
	fmt.Println(schedule.Name(schedule.Event, "pr:owner/repo#1"))
	// Output:
	// nightly
	// pr-owner-repo-1-c9af600b0e113cfa18c1a5bb4363221a
}
