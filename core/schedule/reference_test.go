package schedule_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The plain reference: it reads a five-field expression by itself and looks at every minute of every day. It shares no code with
// the package.

type plain struct {
	minute, hour, day, month, weekday map[int]bool
	eitherDay                         bool
}

func readPlain(text string) plain {
	words := map[string]string{
		"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *",
		"@midnight": "0 0 * * *", "@hourly": "0 * * * *",
	}
	if long := words[text]; long != "" {
		text = long
	}
	f := strings.Fields(text)
	months, days := strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"), strings.Fields("SUN MON TUE WED THU FRI SAT")
	p := plain{
		minute: plainField(f[0], 0, 59, nil, 0), hour: plainField(f[1], 0, 23, nil, 0), day: plainField(f[2], 1, 31, nil, 0),
		month: plainField(f[3], 1, 12, months, 1), weekday: plainField(f[4], 0, 6, days, 0),
	}
	every := func(field string) bool { return field == "*" || field == "*/1" }
	p.eitherDay = !every(f[2]) && !every(f[4])
	return p
}

// plainField counts from low to high by hand. A value above high is a week's other Sunday.
func plainField(text string, low, high int, words []string, first int) map[int]bool {
	out := map[int]bool{}
	number := func(s string) int {
		if i := slices.Index(words, strings.ToUpper(s)); i >= 0 {
			return i + first
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			panic(fmt.Sprintf("%q in a test", s))
		}
		return n
	}
	for _, part := range strings.Split(text, ",") {
		body, every, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			step = number(every)
		}
		from, to := low, high
		if a, b, ranged := strings.Cut(body, "-"); ranged {
			if from, to = number(a), number(b); to < from && strings.EqualFold(b, "SUN") {
				to = 7
			}
		} else if body != "*" {
			from = number(body)
			if !stepped {
				to = from
			}
		}
		for n := from; n <= to; n += step {
			if high == 6 {
				out[n%7] = true
			} else {
				out[n] = true
			}
		}
	}
	return out
}

// times are the first n times after after, in UTC, before the end of Scheduler's years.
func (p plain) times(after time.Time, n int) []time.Time {
	var all []time.Time
	day := time.Date(after.Year(), after.Month(), after.Day(), 0, 0, 0, 0, time.UTC)
	for ; len(all) < n && day.Year() <= 2199; day = day.AddDate(0, 0, 1) {
		onDay, onWeekday := p.day[day.Day()], p.weekday[int(day.Weekday())]
		if !p.month[int(day.Month())] || !(onDay && onWeekday || p.eitherDay && (onDay || onWeekday)) {
			continue
		}
		for m := range 24 * 60 {
			at := day.Add(time.Duration(m) * time.Minute)
			if p.hour[m/60] && p.minute[m%60] && at.After(after) && len(all) < n {
				all = append(all, at)
			}
		}
	}
	return all
}
