package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/internal/awstime"
)

// written are expressions as people write them.
var written = []string{
	"* * * * *", "0 * * * *", "*/5 * * * *", "*/15 9-17 * * 1-5", "30 9 * * 1-5", "0 9 * * 1", "0 17 * * 0", "30 6 1 * *", "0 9 * * MON-FRI",
	"0 0 29 2 *", "0 0 31 * *", "0 0 30 * *", "0 0 31 1,3,5 *", "15 14 1 * *", "0 22 * * 1-5", "23 0-20/2 * * *", "5 4 * * sun", "0 0 1,15 * *",
	"0 0 13 * 5", "0 0 1 * MON", "0 12 30 2 1", "0 12 31 4,6 2", "0 0 * * 7", "0 0 * * 5-7", "0 0 * * 1-7", "0 0 * * 0-6", "0 0 * * FRI-SUN",
	"0 0 * * 1,3,5", "0 0 * * TUE,THU", "0 0 * jan *", "0 0 * JAN-MAR *", "0 0 1 */3 *", "0 0 */2 * *", "0 0 */2 * 1", "0 0 * * */2", "7/20 * * * *",
	"0 2/6 * * *", "10-20/5 * * * *", "0,30 * * * *", "59 23 31 12 *", "0 0 1 1 *", "0 3 * 2 *", "0 0 29 2 1", "0 8-18 * * *", "1-59/2 * * * *",
	"0 0 10-20 * *", "0 0 10-20/3 6 *", "0 0 28-31 * *", "45 23 * * 6", "0 0 1-7 * *", "*/1 * * * *", "0 */1 * * *", "0 0 */1 * 3", "0 0 * * */1",
	"0 0 * * MON-SUN", "0 6 * * 2-7/2", "0 0 1-31 * 1", "*/59 */23 */30 */11 *", "0 0 25 DEC *", "0 18 * * FRI", "@hourly", "@daily", "@midnight",
	"@weekly", "@monthly", "@yearly", "@annually",
}

// combined are all combinations of some fields.
func combined() []string {
	var all []string
	for _, minute := range []string{"0", "*/20", "5,35,50-55"} {
		for _, hour := range []string{"*", "8", "1-23/7"} {
			for _, day := range []string{"*", "1", "29-31", "*/10"} {
				for _, month := range []string{"*", "FEB,APR"} {
					for _, weekday := range []string{"*", "0", "1-5", "6,7"} {
						all = append(all, strings.Join([]string{minute, hour, day, month, weekday}, " "))
					}
				}
			}
		}
	}
	return all
}

// TestP19CronMeansTheSame: for each expression the next fifty times of the package, and those of the converted expressions as
// Scheduler reads them, are the plain reference's.
func TestP19CronMeansTheSame(t *testing.T) {
	all := append(slices.Clone(written), combined()...)
	if len(all) < 300 {
		t.Fatalf("%d expressions, at least 300 are due", len(all))
	}
	from := time.Date(2026, 2, 27, 23, 59, 30, 0, time.UTC)
	last := time.Date(2199, 12, 31, 23, 59, 0, 0, time.UTC)
	for _, text := range all {
		t.Run(text, func(t *testing.T) {
			want := readPlain(text).times(from, 50)
			c, err := schedule.ParseCron(text)
			if err != nil {
				t.Fatal(err)
			}
			got := c.Upcoming(from, time.UTC, schedule.SkipGap, len(want))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("before the conversion (-reference +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, converted(t, c.Expressions(), from, len(want), last)); diff != "" {
				t.Errorf("after the conversion to %q (-reference +got):\n%s", c.Expressions(), diff)
			}
		})
	}
}

// converted are the next n different times of one or two expressions of Scheduler.
func converted(t *testing.T, expressions []string, from time.Time, n int, last time.Time) []time.Time {
	t.Helper()
	var all []time.Time
	for _, text := range expressions {
		if len(text) > awstime.MaxExpression {
			t.Errorf("%q has %d characters", text, len(text))
		}
		e, err := awstime.Parse(text, time.UTC)
		if err != nil {
			t.Fatalf("Scheduler would refuse %q: %v", text, err)
		}
		at := from
		for range n {
			next, ok := e.Next(at, from)
			if !ok || next.After(last) {
				break
			}
			at, all = next, append(all, next.UTC())
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	all = slices.CompactFunc(all, time.Time.Equal)
	return all[:min(n, len(all))]
}

func TestP19Forms(t *testing.T) {
	tests := []struct {
		cron string
		want []string
	}{
		{"0 9 * * 1", []string{"cron(0 9 ? * 2 *)"}},
		{"0 17 * * 0", []string{"cron(0 17 ? * 1 *)"}},
		{"0 17 * * 7", []string{"cron(0 17 ? * 1 *)"}},
		{"30 6 1 * *", []string{"cron(30 6 1 * ? *)"}},
		{"0 9 * * MON-FRI", []string{"cron(0 9 ? * 2-6 *)"}},
		{"*/15 * * * *", []string{"cron(0,15,30,45 * * * ? *)"}},
		{"0 0 13 * 5", []string{"cron(0 0 13 * ? *)", "cron(0 0 ? * 6 *)"}},
		{"0 0 30 2 5", []string{"cron(0 0 ? 2 6 *)"}},
		{"@weekly", []string{"cron(0 0 ? * 1 *)"}},
		{"1-59/2 1-23/2 1-31/2 1-11/2 *", []string{"cron(1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47,49,51,53,55,57,59 " +
			"1,3,5,7,9,11,13,15,17,19,21,23 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 1,3,5,7,9,11 ? *)"}},
	}
	for _, tc := range tests {
		c, err := schedule.ParseCron(tc.cron)
		if err != nil {
			t.Errorf("%s: %v", tc.cron, err)
			continue
		}
		if diff := cmp.Diff(tc.want, c.Expressions()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.cron, diff)
		}
	}
}

// TestP19Refused: what is refused says why.
func TestP19Refused(t *testing.T) {
	tests := []struct{ cron, why string }{
		{"", "empty"},
		{"   ", "empty"},
		{"* * * *", "five fields"},
		{"0 0 * * * *", "five fields"},
		{"0 0 12 * * ? 2026", "five fields"},
		{"cron(0 9 * * ? *)", "five fields"},
		{"60 * * * *", "above maximum"},
		{"* 24 * * *", "above maximum"},
		{"* * 0 * *", "below minimum"},
		{"* * 32 * *", "above maximum"},
		{"* * * 13 *", "above maximum"},
		{"* * * 0 *", "below minimum"},
		{"* * * * 8", "above maximum"},
		{"0 0 30 2 *", "no month"},
		{"0 0 31 4,6,9,11 *", "no month"},
		{"0 0 31 FEB *", "no month"},
		{"5-1 * * * *", "beyond end"},
		{"0 0 * * FRI-MON", "beyond end"},
		{"*/0 * * * *", "a step is 1 to 59"},
		{"*/60 * * * *", "a step is 1 to 59"},
		{"0 */24 * * *", "a step is 1 to 23"},
		{"0 0 * * 7/2", "beyond end"},
		{"1,,2 * * * *", "values, ranges"},
		{", * * * *", "values, ranges"},
		{"*-5 * * * *", "values, ranges"},
		{"1-2-3 * * * *", "values, ranges"},
		{"1/2/3 * * * *", "values, ranges"},
		{"+5 * * * *", "values, ranges"},
		{"-5 * * * *", "values, ranges"},
		{"5.5 * * * *", "values, ranges"},
		{"abc * * * *", `"abc" is no minute`},
		{"0 0 MON * *", `"MON" is no day of month`},
		{"0 0 * MON *", `"MON" is no month`},
		{"0 0 * 1-FOO *", `"FOO" is no month`},
		{"0 0 * * MOM-7", `"MOM" is no day of week`},
		{"0 0 * * UNM-SUN", `"UNM" is no day of week`},
		{"0 0 * * XYZ-7/2", `"XYZ" is no day of week`},
		{"0 0 ? * 1", "? L W and #"},
		{"0 0 L * *", "? L W and #"},
		{"0 0 L-3 * *", "? L W and #"},
		{"0 0 15W * *", "? L W and #"},
		{"0 0 LW * *", "? L W and #"},
		{"0 0 * * 5L", "? L W and #"},
		{"0 0 * * FRIL", "? L W and #"},
		{"0 0 * * 6#3", "? L W and #"},
		{"@every 5m", "@every"},
		{"@reboot", "of the words"},
		{"@noon", "of the words"},
		{"TZ=Europe/Berlin 0 9 * * *", "time zone stands beside"},
		{"CRON_TZ=UTC 0 9 * * *", "time zone stands beside"},
		{strings.Repeat("0,", 200) + "1 * * * *", "the limit is 256"},
	}
	for _, tc := range tests {
		_, err := schedule.ParseCron(tc.cron)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Public(err), tc.why) {
			t.Errorf("%q = %v, want Invalid with %q", tc.cron, err, tc.why)
		}
	}
}

func ExampleParseCron() {
	c, err := schedule.ParseCron("30 9 * * MON-FRI")
	if err != nil {
		fmt.Println(err)
		return
	}
	friday := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	fmt.Println(c.Expressions()[0], c.Next(friday, time.UTC, schedule.SkipGap).Format(time.RFC1123))
	// Output: cron(30 9 ? * 2-6 *) Mon, 05 Jan 2026 09:30:00 UTC
}
