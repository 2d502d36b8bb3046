package awstime

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cron is the six-field calendar of EventBridge: minutes, hours, day of month, month, day of week (1 is Sunday), year.
// A wall time that the zone skips is not run; one that occurs twice runs at its first occurrence.
type cron struct {
	zone                          *time.Location
	minutes, hours, months, years set
	day                           func(date time.Time) bool
}

type set map[int]bool

// lastYear is the last one a cron expression can name.
const lastYear = 2199

func parseCron(s string, zone *time.Location) (*cron, error) {
	f := strings.Fields(s)
	if len(f) != 6 {
		return nil, fmt.Errorf("cron takes six fields: minutes hours day-of-month month day-of-week year")
	}
	if (f[2] == "?") == (f[4] == "?") {
		return nil, fmt.Errorf("exactly one of day-of-month and day-of-week must be ?")
	}
	c := &cron{zone: zone}
	var err error
	for _, field := range []struct {
		into     *set
		text     string
		low, top int
		names    string
	}{
		{&c.minutes, f[0], 0, 59, ""}, {&c.hours, f[1], 0, 23, ""},
		{&c.months, f[3], 1, 12, "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"}, {&c.years, f[5], 1970, lastYear, ""},
	} {
		if *field.into, err = parseSet(field.text, field.low, field.top, field.names); err != nil {
			return nil, err
		}
	}
	if f[4] == "?" {
		c.day, err = parseDayOfMonth(strings.ToUpper(f[2]))
	} else {
		c.day, err = parseDayOfWeek(strings.ToUpper(f[4]))
	}
	return c, err
}

// parseSet reads a list of values, ranges and steps. names are the words for low, low+1 and so on.
func parseSet(text string, low, top int, names string) (set, error) {
	out := set{}
	for _, part := range strings.Split(strings.ToUpper(text), ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			var err error
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
				return nil, fmt.Errorf("%q is no step", part)
			}
		}
		first, last, err := parseSpan(span, low, top, strings.Fields(names), stepped)
		if err != nil {
			return nil, err
		}
		for v := first; v <= last; v += step {
			out[v] = true
		}
	}
	return out, nil
}

func parseSpan(span string, low, top int, names []string, stepped bool) (first, last int, err error) {
	if span == "*" {
		return low, top, nil
	}
	from, to, isRange := strings.Cut(span, "-")
	if first, err = parseValue(from, low, top, names); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		last, err = parseValue(to, low, top, names)
	case stepped:
		last = top
	default:
		last = first
	}
	if err == nil && last < first {
		err = fmt.Errorf("the range %q ends before it begins", span)
	}
	return first, last, err
}

func parseValue(s string, low, top int, names []string) (int, error) {
	if i := slices.Index(names, s); i >= 0 {
		return low + i, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > top || strings.HasPrefix(s, "+") {
		return 0, fmt.Errorf("%q is not between %d and %d", s, low, top)
	}
	return n, nil
}

// parseDayOfMonth also reads L (the last day), nW (the weekday nearest to day n) and LW (the last weekday).
func parseDayOfMonth(s string) (func(time.Time) bool, error) {
	switch {
	case s == "L":
		return func(d time.Time) bool { return d.Day() == daysIn(d) }, nil
	case s == "LW":
		return func(d time.Time) bool { return d.Day() == nearestWeekday(d, daysIn(d)) }, nil
	case strings.HasSuffix(s, "W"):
		n, err := parseValue(strings.TrimSuffix(s, "W"), 1, 31, nil)
		return func(d time.Time) bool { return n <= daysIn(d) && d.Day() == nearestWeekday(d, n) }, err
	}
	days, err := parseSet(s, 1, 31, "")
	return func(d time.Time) bool { return days[d.Day()] }, err
}

// parseDayOfWeek also reads n#k (the k-th of that weekday in the month), nL (the last one) and L (Saturday).
func parseDayOfWeek(s string) (func(time.Time) bool, error) {
	names := "SUN MON TUE WED THU FRI SAT"
	if s == "L" {
		s = "SAT"
	}
	if day, nth, ok := strings.Cut(s, "#"); ok {
		n, err := parseValue(day, 1, 7, strings.Fields(names))
		if err != nil {
			return nil, err
		}
		k, err := parseValue(nth, 1, 5, nil)
		return func(d time.Time) bool { return weekday(d) == n && (d.Day()-1)/7+1 == k }, err
	}
	if day, ok := strings.CutSuffix(s, "L"); ok {
		n, err := parseValue(day, 1, 7, strings.Fields(names))
		return func(d time.Time) bool { return weekday(d) == n && d.Day()+7 > daysIn(d) }, err
	}
	days, err := parseSet(s, 1, 7, names)
	return func(d time.Time) bool { return days[weekday(d)] }, err
}

func weekday(d time.Time) int { return int(d.Weekday()) + 1 }

func daysIn(d time.Time) int {
	return time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// nearestWeekday is the day from Monday to Friday nearest to day n of d's month, without leaving the month.
func nearestWeekday(d time.Time, n int) int {
	switch time.Date(d.Year(), d.Month(), n, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if n == 1 {
			return 3
		}
		return n - 1
	case time.Sunday:
		if n == daysIn(d) {
			return n - 2
		}
		return n + 1
	}
	return n
}

// next looks day by day for the first wall time after the given moment.
func (c *cron) next(after time.Time) (time.Time, bool) {
	local := after.In(c.zone)
	date := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	for ; date.Year() <= lastYear; date = date.AddDate(0, 0, 1) {
		if !c.years[date.Year()] || !c.months[int(date.Month())] || !c.day(date) {
			continue
		}
		if t, ok := c.onDay(date, after); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

func (c *cron) onDay(date, after time.Time) (time.Time, bool) {
	for h := range 24 {
		if !c.hours[h] {
			continue
		}
		for m := range 60 {
			if !c.minutes[m] {
				continue
			}
			wall := date.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute)
			if found := instants(wall, c.zone); len(found) > 0 && found[0].After(after) {
				return found[0], true
			}
		}
	}
	return time.Time{}, false
}
