package awstime_test

import (
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/awstime"
)

func TestNextThree(t *testing.T) {
	tests := []struct {
		name, text, zone, after string
		want                    string // the next three, in UTC
	}{
		{"once", "at(2026-03-01T10:00:00)", "", "2026-01-01T00:00:00Z", "2026-03-01T10:00:00Z"},
		{"once in a zone", "at(2026-03-01T10:00:00)", "Europe/Berlin", "2026-01-01T00:00:00Z", "2026-03-01T09:00:00Z"},
		{"once, over", "at(2026-03-01T10:00:00)", "", "2026-03-01T10:00:00Z", ""},
		{"rate", "rate(5 minutes)", "", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z 2026-01-01T00:10:00Z 2026-01-01T00:15:00Z"},
		{"one hour", "rate(1 hour)", "", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z 2026-01-01T02:00:00Z 2026-01-01T03:00:00Z"},
		{"Mondays", "cron(0 9 ? * 2 *)", "", "2026-01-01T00:00:00Z", "2026-01-05T09:00:00Z 2026-01-12T09:00:00Z 2026-01-19T09:00:00Z"},
		{"weekdays by name", "cron(0 17 ? * MON-FRI *)", "", "2026-01-02T17:00:00Z", "2026-01-05T17:00:00Z 2026-01-06T17:00:00Z 2026-01-07T17:00:00Z"},
		{"steps", "cron(10/25 8 1 * ? *)", "", "2026-01-01T08:20:00Z", "2026-01-01T08:35:00Z 2026-02-01T08:10:00Z 2026-02-01T08:35:00Z"},
		{"last day", "cron(0 0 L * ? *)", "", "2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z 2026-03-31T00:00:00Z 2026-04-30T00:00:00Z"},
		{"weekday nearest to the 1st", "cron(0 0 1W * ? *)", "", "2026-01-31T00:00:00Z", "2026-02-02T00:00:00Z 2026-03-02T00:00:00Z 2026-04-01T00:00:00Z"},
		{"third Friday", "cron(0 0 ? * 6#3 *)", "", "2026-01-01T00:00:00Z", "2026-01-16T00:00:00Z 2026-02-20T00:00:00Z 2026-03-20T00:00:00Z"},
		{"last Friday", "cron(0 0 ? * 6L *)", "", "2026-01-01T00:00:00Z", "2026-01-30T00:00:00Z 2026-02-27T00:00:00Z 2026-03-27T00:00:00Z"},
		{"29 February", "cron(0 0 29 2 ? *)", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z 2036-02-29T00:00:00Z"},
		{"only one year", "cron(0 0 1 1 ? 2027)", "", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"skipped hour", "cron(30 2 * * ? *)", "America/New_York", "2025-03-08T00:00:00Z", "2025-03-08T07:30:00Z 2025-03-10T06:30:00Z 2025-03-11T06:30:00Z"},
		{"repeated hour once", "cron(30 1 * * ? *)", "America/New_York", "2025-11-02T00:00:00Z", "2025-11-02T05:30:00Z 2025-11-03T06:30:00Z 2025-11-04T06:30:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := parse(tt.text, tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			after, err := time.Parse(time.RFC3339, tt.after)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			var got []string
			for range 3 {
				next, ok := e.Next(after, start)
				if !ok {
					break
				}
				after = next.UTC()
				got = append(got, after.Format(time.RFC3339))
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("next = %s, want %s", text, tt.want)
			}
		})
	}
}

func TestMoreIsRefused(t *testing.T) {
	tests := []struct{ name, text, zone string }{
		{"a zone in the time", "at(2026-03-01T10:00:00Z)", ""},
		{"an offset", "at(2026-03-01T10:00:00+01:00)", ""},
		{"fractions", "at(2026-03-01T10:00:00.5)", ""},
		{"no seconds", "at(2026-03-01T10:00)", ""},
		{"no such day", "at(2026-02-30T10:00:00)", ""},
		{"unknown zone", "at(2026-03-01T10:00:00)", "Mars/Base"},
		{"rate of 0", "rate(0 minutes)", ""},
		{"rate of seconds", "rate(30 seconds)", ""},
		{"five fields", "cron(0 9 * * 1)", ""},
		{"both days", "cron(0 9 1 * 2 *)", ""},
		{"no day", "cron(0 9 ? * ? *)", ""},
		{"weekday 0", "cron(0 9 ? * 0 *)", ""},
		{"minute 60", "cron(60 9 * * ? *)", ""},
		{"backwards", "cron(0 9 ? * FRI-MON *)", ""},
		{"? as a minute", "cron(? 9 * * ? *)", ""},
		{"L as a month", "cron(0 9 * L ? *)", ""},
		{"words", "every monday", ""},
		{"open", "cron(0 9 * * ? *", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parse(tt.text, tt.zone); err == nil {
				t.Errorf("Parse(%q, %q) was accepted", tt.text, tt.zone)
			}
		})
	}
}

func parse(text, name string) (awstime.Expression, error) {
	zone, err := awstime.Zone(name)
	if err != nil {
		return awstime.Expression{}, err
	}
	return awstime.Parse(text, zone)
}
