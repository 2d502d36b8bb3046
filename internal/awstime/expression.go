// Package awstime reads the schedule expressions of EventBridge Scheduler (at, rate, cron with six fields) as the service does and
// computes when they run, time zones and changes of clocks included. The local cloud and the fake run by it, and the program's own
// code for schedules, which shares none of it, is held against it.
package awstime

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxExpression is how long an expression may be.
const MaxExpression = 256

// Zone loads the zone of an expression; "" is UTC.
func Zone(name string) (*time.Location, error) {
	if name == "" {
		name = "UTC"
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" || len(name) > 50 {
		return nil, fmt.Errorf("the provided ScheduleExpressionTimezone %q is invalid", name)
	}
	return zone, nil
}

// Expression says when a schedule runs: once (at), every so often (rate), or by the calendar (cron).
type Expression struct {
	text   string
	at     time.Time     // once
	period time.Duration // rate
	cron   *cron
}

// Parse reads at(yyyy-mm-ddThh:mm:ss), rate(n unit) or cron(six fields). Calendar times are those of zone.
func Parse(text string, zone *time.Location) (Expression, error) {
	kind, rest, ok := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed || len(text) > MaxExpression {
		return Expression{}, fmt.Errorf("%q: at(), rate() or cron() of at most 256 characters is due", text)
	}
	e := Expression{text: text}
	var err error
	switch kind {
	case "at":
		e.at, err = parseAt(inner, zone)
	case "rate":
		e.period, err = parseRate(inner)
	case "cron":
		e.cron, err = parseCron(inner, zone)
	default:
		err = fmt.Errorf("at, rate or cron is due")
	}
	if err != nil {
		return Expression{}, fmt.Errorf("%s: %w", text, err)
	}
	return e, nil
}

// Once reports whether the expression is an at().
func (e Expression) Once() bool { return e.period == 0 && e.cron == nil }

// Calendar reports whether the expression is a cron().
func (e Expression) Calendar() bool { return e.cron != nil }

// At is the time of an at().
func (e Expression) At() time.Time { return e.at }

// Period is that of a rate().
func (e Expression) Period() time.Duration { return e.period }

// Next is the first time after the given one. anchor is where a rate counts from: it runs at anchor plus one, two, ...
// periods. ok is false when there is none any more.
func (e Expression) Next(after, anchor time.Time) (next time.Time, ok bool) {
	switch {
	case e.cron != nil:
		return e.cron.next(after)
	case e.period > 0:
		n := after.Sub(anchor)/e.period + 1
		return anchor.Add(max(n, 1) * e.period), true
	}
	return e.at, e.at.After(after)
}

func parseAt(s string, zone *time.Location) (time.Time, error) {
	const layout = "2006-01-02T15:04:05"
	t, err := time.Parse(layout, s)
	if err != nil || t.Format(layout) != s {
		return time.Time{}, fmt.Errorf("at takes yyyy-mm-ddThh:mm:ss, without a zone")
	}
	if found := instants(t, zone); len(found) > 0 {
		return found[0], nil
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone), nil // inside a gap: as much later
}

// instants are the moments at which clocks in zone show the wall time: none in a gap, two when an hour is repeated.
func instants(wall time.Time, zone *time.Location) []time.Time {
	var out []time.Time
	for _, around := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		_, offset := wall.Add(around).In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		_, actual := t.In(zone).Zone()
		if actual == offset && !slices.ContainsFunc(out, t.Equal) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}

func parseRate(s string) (time.Duration, error) {
	m := regexp.MustCompile(`^([1-9][0-9]{0,8}) (minute|minutes|hour|hours|day|days)$`).FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("rate takes a positive number and minute(s), hour(s) or day(s)")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0, err
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[strings.TrimSuffix(m[2], "s")]
	if n > int(100*365*24*time.Hour/unit) {
		return 0, fmt.Errorf("the rate is longer than a hundred years")
	}
	return time.Duration(n) * unit, nil
}
