package awstime

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// field is one field of a cron expression: the values it allows and what depends on the month.
type field struct {
	any    bool // ?
	values map[int]bool
	last   int  // L: days before the last of the month (0), -1 for none; for weekdays the weekday of its last week
	nearby int  // nW: the weekday nearest to day n; 0 for none
	nth    int  // n#k: k
	lastW  bool // LW
}

// cron is a parsed cron(minute hour day month weekday year).
type cron struct{ minute, hour, day, month, weekday, year field }

func parseCron(body string) (cron, error) {
	parts := strings.Fields(body)
	if len(parts) != 6 {
		return cron{}, invalid("cron takes six fields, not %d", len(parts))
	}
	var c cron
	var err error
	months, days := strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"), strings.Fields("SUN MON TUE WED THU FRI SAT")
	read := func(f *field, text string, low, high int, words []string) {
		if err == nil {
			*f, err = parseField(text, low, high, words)
		}
	}
	read(&c.minute, parts[0], 0, 59, nil)
	read(&c.hour, parts[1], 0, 23, nil)
	read(&c.day, parts[2], 1, 31, nil)
	read(&c.month, parts[3], 1, 12, months)
	read(&c.weekday, parts[4], 1, 7, days)
	read(&c.year, parts[5], 1970, 2199, nil)
	if err != nil {
		return cron{}, err
	}
	return c, c.check(parts)
}

// check refuses what only some fields may hold.
func (c cron) check(parts []string) error {
	if c.day.any == c.weekday.any {
		return invalid("exactly one of day of month and day of week must be ?")
	}
	for i, f := range []field{c.minute, c.hour, c.day, c.month, c.weekday, c.year} {
		isDay, isWeekday := i == 2, i == 4
		switch {
		case f.any && !isDay && !isWeekday,
			f.last >= 0 && !isDay && !isWeekday,
			(f.nearby > 0 || f.lastW) && !isDay,
			f.nth > 0 && !isWeekday:
			return invalid("%q is not allowed in field %d", parts[i], i+1)
		}
	}
	return nil
}

func parseField(text string, low, high int, words []string) (field, error) {
	f := field{last: -1, values: map[int]bool{}}
	upper := strings.ToUpper(text)
	number := func(s string) (int, error) { return parseValue(s, low, high, words) }
	var err error
	switch {
	case upper == "?":
		f.any = true
	case upper == "L":
		f.last = 0
	case upper == "LW":
		f.lastW = true
	case strings.HasPrefix(upper, "L-"):
		f.last, err = number(upper[2:])
	case strings.HasSuffix(upper, "W"):
		f.nearby, err = number(strings.TrimSuffix(upper, "W"))
	case strings.HasSuffix(upper, "L") && high == 7:
		f.last, err = number(strings.TrimSuffix(upper, "L"))
	case strings.Contains(upper, "#"):
		day, k, _ := strings.Cut(upper, "#")
		var n int
		if n, err = number(day); err == nil {
			f.values[n] = true
			f.nth, err = parseValue(k, 1, 5, nil)
		}
	default:
		for _, part := range strings.Split(upper, ",") {
			if err == nil {
				err = f.add(part, low, high, number)
			}
		}
	}
	return f, err
}

// add takes one part of a list: *, a, a-b, each with an optional /step.
func (f *field) add(part string, low, high int, number func(string) (int, error)) error {
	spread, stepText, stepped := strings.Cut(part, "/")
	step := 1
	if stepped {
		var err error
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return invalid("%q is not a step", stepText)
		}
	}
	from, to := low, high
	if spread != "*" {
		first, second, isRange := strings.Cut(spread, "-")
		var err error
		if from, err = number(first); err != nil {
			return err
		}
		switch {
		case isRange:
			if to, err = number(second); err != nil {
				return err
			}
		case !stepped:
			to = from
		}
	}
	if from > to {
		return invalid("%q runs backwards", part)
	}
	for n := from; n <= to; n += step {
		f.values[n] = true
	}
	return nil
}

func parseValue(text string, low, high int, words []string) (int, error) {
	if i := slices.Index(words, text); i >= 0 {
		return low + i, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, invalid("%q is not between %d and %d", text, low, high)
	}
	return n, nil
}

// on reports whether the expression fires on the day.
func (c cron) on(day time.Time) bool {
	if !c.year.values[day.Year()] || !c.month.values[int(day.Month())] {
		return false
	}
	if c.weekday.any {
		return c.day.dayOfMonth(day)
	}
	return c.weekday.dayOfWeek(day)
}

// daysIn is the number of days in the month of day.
func daysIn(day time.Time) int {
	return time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func (f field) dayOfMonth(day time.Time) bool {
	end := daysIn(day)
	switch {
	case f.last >= 0:
		return day.Day() == end-f.last
	case f.lastW:
		return day.Day() == working(day, end)
	case f.nearby > 0:
		return day.Day() == working(day, min(f.nearby, end))
	}
	return f.values[day.Day()]
}

// working gives the weekday (Monday to Friday) nearest to day n within the month of day.
func working(day time.Time, n int) int {
	switch time.Date(day.Year(), day.Month(), n, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if n == 1 {
			return 3
		}
		return n - 1
	case time.Sunday:
		if n == daysIn(day) {
			return n - 2
		}
		return n + 1
	}
	return n
}

func (f field) dayOfWeek(day time.Time) bool {
	weekday := int(day.Weekday()) + 1
	switch {
	case f.last == 0: // L alone: Saturday
		return weekday == 7
	case f.last > 0:
		return weekday == f.last && day.Day() > daysIn(day)-7
	case f.nth > 0:
		return f.values[weekday] && (day.Day()-1)/7+1 == f.nth
	}
	return f.values[weekday]
}
