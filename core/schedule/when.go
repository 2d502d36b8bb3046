package schedule

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// MinEvery is the shortest time between two firings.
const MinEvery = time.Minute

// When says when, in exactly one of four ways. TimeZone goes with At and Cron.
type When struct {
	Delay    string // once, after this long
	At       string // once, then
	Every    string // again and again, at this distance, at least MinEvery
	Cron     string // again and again, by the calendar
	TimeZone string // IANA name; "": UTC
}

// Plan is a When that has been read.
type Plan struct {
	at    time.Time // once
	every time.Duration
	cron  *Cron
	zone  *time.Location
}

// Read reads a When at now. A time that is past is not refused here: Next tells it. Faults: Invalid, naming the field.
func (w When) Read(now time.Time) (Plan, error) {
	given := 0
	for _, text := range []string{w.Delay, w.At, w.Every, w.Cron} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return Plan{}, fault.New(fault.Invalid, "exactly one of delay, at, every and cron is due, not %d", given)
	}
	zone, err := Zone(w.TimeZone)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{zone: zone}
	switch {
	case w.Delay != "":
		var d time.Duration
		d, err = ParseDelay(w.Delay)
		p.at = now.Add(d)
	case w.At != "":
		if p.at, err = ParseAt(w.At, zone); err == nil && p.at.Sub(now) > MaxAhead {
			err = tooFar("at", w.At)
		}
	case w.Every != "":
		p.every, err = parseEvery(w.Every)
	default:
		var c Cron
		c, err = ParseCron(w.Cron)
		p.cron = &c
	}
	if err != nil {
		return Plan{}, err
	}
	return p, nil
}

func parseEvery(text string) (time.Duration, error) {
	d, err := ParseDelay(text)
	if err != nil {
		return 0, fault.New(fault.Invalid, "every: %q is no distance; write 15m, 2h, 3d or 1h30m, at most a year", clip(text))
	}
	if d < MinEvery {
		return 0, fault.New(fault.Invalid, "every: %q is less than a minute", clip(text))
	}
	return d, nil
}

// Recurring reports whether there is more than one time.
func (p Plan) Recurring() bool { return p.at.IsZero() }

// First is the first time of a plan that begins at from: a single time as it is, past or not.
func (p Plan) First(from time.Time) time.Time {
	if !p.Recurring() {
		return p.at
	}
	return p.Next(from, from)
}

// Next is the time that follows last, and is after now: what was missed is not made up for. Zero when there is none. A distance
// counts from last, so that it does not drift. A cron's wall time that clocks skip is the first instant after the gap.
func (p Plan) Next(last, now time.Time) time.Time {
	switch {
	case !p.Recurring():
		return time.Time{}
	case p.every > 0:
		passed := max(now.Sub(last), 0)
		return last.Add((passed/p.every + 1) * p.every)
	}
	if last.Before(now) {
		last = now
	}
	return p.cron.Next(last, p.zone, AfterGap)
}
