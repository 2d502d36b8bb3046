package awstime_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/awstime"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// fires lists the next n times in the zone's own wall time with its offset.
func fires(t *testing.T, expression, zoneName, after string, n int) []string {
	t.Helper()
	z := zone(t, zoneName)
	e, err := awstime.Parse(expression, z)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	at, err := time.Parse(time.RFC3339, after)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	anchor := at
	for range n {
		next, ok := e.Next(at, anchor)
		if !ok {
			break
		}
		out = append(out, next.In(z).Format("Mon 2006-01-02 15:04Z07:00"))
		at = next
	}
	return out
}

func TestNext(t *testing.T) {
	tests := []struct {
		name, expression, zone, after string
		want                          []string
	}{
		{"once", "at(2026-03-01T10:00:30)", "UTC", "2026-01-01T00:00:00Z", []string{"Sun 2026-03-01 10:00Z"}},
		{"once, in a zone", "at(2026-07-01T10:00:00)", "Europe/Zurich", "2026-01-01T00:00:00Z", []string{"Wed 2026-07-01 10:00+02:00"}},
		{"once, at a time that occurs twice: the first", "at(2025-11-02T01:30:00)", "America/New_York", "2025-11-01T00:00:00Z", []string{"Sun 2025-11-02 01:30-04:00"}},
		{"once, over", "at(2026-03-01T10:00:00)", "UTC", "2026-03-01T10:00:00Z", nil},
		{"rate counts from its anchor", "rate(5 minutes)", "UTC", "2026-01-01T00:01:00Z", []string{"Thu 2026-01-01 00:06Z", "Thu 2026-01-01 00:11Z"}},
		{"daily", "cron(0 9 * * ? *)", "UTC", "2026-01-31T09:00:00Z", []string{"Sun 2026-02-01 09:00Z", "Mon 2026-02-02 09:00Z"}},
		{"weekdays", "cron(15 10 ? * MON-FRI *)", "UTC", "2026-01-02T11:00:00Z", []string{"Mon 2026-01-05 10:15Z"}},
		{"1 is Sunday", "cron(0 17 ? * 1 *)", "UTC", "2026-01-01T00:00:00Z", []string{"Sun 2026-01-04 17:00Z"}},
		{"2 is Monday", "cron(0 9 ? * 2 *)", "UTC", "2026-01-01T00:00:00Z", []string{"Mon 2026-01-05 09:00Z"}},
		{"steps", "cron(0/20 8-9 * * ? *)", "UTC", "2026-01-01T08:30:00Z", []string{"Thu 2026-01-01 08:40Z", "Thu 2026-01-01 09:00Z", "Thu 2026-01-01 09:20Z"}},
		{"lists and names", "cron(0 0 1,15 jan,JUL ? *)", "UTC", "2026-01-02T00:00:00Z", []string{"Thu 2026-01-15 00:00Z", "Wed 2026-07-01 00:00Z"}},
		{"last day", "cron(0 0 L * ? *)", "UTC", "2028-02-01T00:00:00Z", []string{"Tue 2028-02-29 00:00Z", "Fri 2028-03-31 00:00Z"}},
		{"nearest weekday", "cron(0 0 15W * ? *)", "UTC", "2026-02-01T00:00:00Z", []string{"Mon 2026-02-16 00:00Z", "Mon 2026-03-16 00:00Z", "Wed 2026-04-15 00:00Z"}},
		{"nearest weekday stays in the month", "cron(0 0 1W * ? *)", "UTC", "2026-07-31T00:00:00Z", []string{"Mon 2026-08-03 00:00Z"}},
		{"last weekday", "cron(0 0 LW * ? *)", "UTC", "2026-01-01T00:00:00Z", []string{"Fri 2026-01-30 00:00Z"}},
		{"second Tuesday", "cron(0 0 ? * 3#2 *)", "UTC", "2026-01-01T00:00:00Z", []string{"Tue 2026-01-13 00:00Z", "Tue 2026-02-10 00:00Z"}},
		{"last Friday", "cron(0 0 ? * 6L *)", "UTC", "2026-01-01T00:00:00Z", []string{"Fri 2026-01-30 00:00Z", "Fri 2026-02-27 00:00Z"}},
		{"leap day", "cron(0 0 29 2 ? *)", "UTC", "2026-01-01T00:00:00Z", []string{"Tue 2028-02-29 00:00Z", "Sun 2032-02-29 00:00Z"}},
		{"a date that never comes", "cron(0 0 30 2 ? *)", "UTC", "2026-01-01T00:00:00Z", nil},
		{"years end", "cron(0 0 1 1 ? 2026-2027)", "UTC", "2026-06-01T00:00:00Z", []string{"Fri 2027-01-01 00:00Z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, fires(t, tt.expression, tt.zone, tt.after, max(1, len(tt.want)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestP20DaylightSaving(t *testing.T) {
	skipped := fires(t, "cron(30 2 * * ? *)", "America/New_York", "2025-03-08T00:00:00Z", 3)
	if diff := cmp.Diff([]string{"Sat 2025-03-08 02:30-05:00", "Mon 2025-03-10 02:30-04:00", "Tue 2025-03-11 02:30-04:00"}, skipped); diff != "" {
		t.Error("the hour that does not exist is not run", diff)
	}
	once := fires(t, "cron(30 1 * * ? *)", "America/New_York", "2025-11-02T00:00:00Z", 2)
	if diff := cmp.Diff([]string{"Sun 2025-11-02 01:30-04:00", "Mon 2025-11-03 01:30-05:00"}, once); diff != "" {
		t.Error("the hour that occurs twice is run once", diff)
	}
}

func TestExpressionsRefused(t *testing.T) {
	tests := []struct{ expression, want string }{
		{"", "at(), rate() or cron()"},
		{"every(5 minutes)", "at, rate or cron is due"},
		{"at(2026-03-01T10:00:00Z)", "without a zone"},
		{"at(2026-03-01T10:00:00.5)", "without a zone"},
		{"at(2026-02-30T10:00:00)", "without a zone"},
		{"at(2026-3-1T10:00:00)", "without a zone"},
		{"rate(0 minutes)", "positive number"},
		{"rate(5 seconds)", "positive number"},
		{"rate(99999999 days)", "hundred years"},
		{"cron(0 9 * * 1)", "six fields"},
		{"cron(0 9 * * * *)", "exactly one"},
		{"cron(0 9 ? * ? *)", "exactly one"},
		{"cron(60 9 * * ? *)", "between 0 and 59"},
		{"cron(0 9 ? * 0 *)", "between 1 and 7"},
		{"cron(0 9 ? * 8 *)", "between 1 and 7"},
		{"cron(0 9 0 * ? *)", "between 1 and 31"},
		{"cron(0 9 * 13 ? *)", "between 1 and 12"},
		{"cron(0 9 * * ? 1969)", "between 1970 and 2199"},
		{"cron(0 17-9 * * ? *)", "ends before it begins"},
		{"cron(0/0 9 * * ? *)", "no step"},
		{"cron(0 9 ? * MON#6 *)", "between 1 and 5"},
		{"cron(0 9 ? * FUN *)", "between 1 and 7"},
		{"cron(" + strings.Repeat("0,", 200) + "0 9 * * ? *)", "at most 256 characters"},
	}
	for _, tt := range tests {
		if _, err := awstime.Parse(tt.expression, time.UTC); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: %v, want %q", tt.expression, err, tt.want)
		}
	}
}
