// Package awstime reads the schedule expressions of EventBridge Scheduler (at, rate, cron with six fields) as the service
// does and computes when they fire, time zones and changes of clocks included. It is a reference for tests, written from
// the service's documentation and independent of the product's own code for schedules.
package awstime

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxExpression is how long an expression may be.
const MaxExpression = 256

// horizon is how far Next looks: past the longest gap between two 29 Februaries.
const horizon = 9 * 366

// Expression is a parsed schedule expression in its time zone.
type Expression struct {
	at    time.Time // one time
	every time.Duration
	cron  cron
	zone  *time.Location
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("invalid schedule expression: "+format, args...)
}

// Parse reads an expression; zone is an IANA name, empty for UTC.
func Parse(text, zone string) (Expression, error) {
	if zone == "" {
		zone = "UTC"
	}
	loc, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" || len(zone) > 50 {
		return Expression{}, invalid("unknown time zone %q", zone)
	}
	kind, body, ok := strings.Cut(text, "(")
	if !ok || !strings.HasSuffix(body, ")") || len(text) > MaxExpression {
		return Expression{}, invalid("%q", text)
	}
	e := Expression{zone: loc}
	body = strings.TrimSuffix(body, ")")
	switch kind {
	case "at":
		e.at, err = parseAt(body, loc)
	case "rate":
		e.every, err = parseRate(body)
	case "cron":
		e.cron, err = parseCron(body)
	default:
		err = invalid("%q", text)
	}
	return e, err
}

func parseAt(body string, zone *time.Location) (time.Time, error) {
	at, err := time.ParseInLocation("2006-01-02T15:04:05", body, zone)
	if err != nil || len(body) != len("2006-01-02T15:04:05") {
		return time.Time{}, invalid("at takes yyyy-mm-ddThh:mm:ss, not %q", body)
	}
	return at, nil
}

func parseRate(body string) (time.Duration, error) {
	number, unit, _ := strings.Cut(body, " ")
	n, err := strconv.Atoi(number)
	length := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[strings.TrimSuffix(unit, "s")]
	if err != nil || n < 1 || length == 0 || strings.HasSuffix(unit, "ss") {
		return 0, invalid("rate takes a whole number of minutes, hours or days, not %q", body)
	}
	return time.Duration(n) * length, nil
}

// Once reports whether the expression fires at one time only.
func (e Expression) Once() bool { return !e.at.IsZero() }

// Next gives the first time after after at which the expression fires; a rate counts from start. It is zero if there is none
// (within nine years for cron).
func (e Expression) Next(start, after time.Time) time.Time {
	switch {
	case e.Once() && e.at.After(after):
		return e.at.UTC()
	case e.Once():
		return time.Time{}
	case e.every > 0:
		passed := max(after.Sub(start), 0)
		return start.Add((passed/e.every + 1) * e.every).UTC()
	}
	return e.nextCron(after)
}

func (e Expression) nextCron(after time.Time) time.Time {
	local := after.In(e.zone)
	for n := range horizon {
		day := time.Date(local.Year(), local.Month(), local.Day()+n, 12, 0, 0, 0, time.UTC)
		if !e.cron.on(day) {
			continue
		}
		if at := e.onDay(day, after); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// onDay gives the first firing on a day after after, zero if there is none.
func (e Expression) onDay(day, after time.Time) time.Time {
	var first time.Time
	for hour := range 24 {
		for minute := range 60 {
			if !e.cron.hour.values[hour] || !e.cron.minute.values[minute] {
				continue
			}
			at, exists := instant(day, hour, minute, e.zone)
			if exists && at.After(after) && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	return first
}

// instant gives the first instant at which clocks in the zone show hour:minute on the day; a wall time that is skipped
// does not exist.
func instant(day time.Time, hour, minute int, zone *time.Location) (at time.Time, exists bool) {
	at = time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, zone)
	shows := func(t time.Time) bool {
		return t.Day() == day.Day() && t.Hour() == hour && t.Minute() == minute
	}
	if !shows(at) {
		return time.Time{}, false
	}
	for _, back := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		if shows(at.Add(-back)) {
			at = at.Add(-back)
		}
	}
	return at.UTC(), true
}
