package schedule

import (
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Layouts of a point in time: with an offset, and as clocks show it.
var (
	instants = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700"}
	walls    = []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", time.DateOnly}
)

// ParseAt reads a point in time: an instant with an offset (2026-03-29T10:00:00Z), a wall time in zone (2026-03-29T10:00), or a date,
// which is the start of that day. A blank may stand for the T. A wall time that clocks skip is the first instant after the gap, one
// that they show twice the first. Faults: Invalid.
func ParseAt(text string, zone *time.Location) (time.Time, error) {
	trimmed := strings.TrimSpace(text)
	if len(trimmed) > len(time.DateOnly) && trimmed[len(time.DateOnly)] == ' ' {
		trimmed = trimmed[:len(time.DateOnly)] + "T" + trimmed[len(time.DateOnly)+1:]
	}
	for _, layout := range instants {
		if at, err := time.Parse(layout, trimmed); err == nil {
			return at.UTC(), nil
		}
	}
	for _, layout := range walls {
		if wall, err := time.Parse(layout, trimmed); err == nil {
			at, _ := resolve(wall, zone)
			return at, nil
		}
	}
	return time.Time{}, fault.New(fault.Invalid,
		"at: %q is no time; write 2026-03-29T10:00:00Z, 2026-03-29T10:00 with a timezone beside it, or 2026-03-29", clip(text))
}

// AtExpression is the one-time expression for t, in UTC. Fractions of a second count up, so that nothing runs early.
func AtExpression(t time.Time) string {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		t = whole.Add(time.Second)
	}
	return "at(" + t.UTC().Format("2006-01-02T15:04:05") + ")"
}

// Near is the time within which EventBridge Scheduler, which keeps time to the minute, cannot be told any more.
const Near = 90 * time.Second

// FarEnough is the first time that Scheduler can be told at now for something due at due: due itself, or when that is near or past
// the first full minute at least 60 s ahead. It is never before due.
func FarEnough(due, now time.Time) time.Time {
	if due.Sub(now) > Near {
		return due
	}
	earliest := now.Add(time.Minute)
	if due.After(earliest) {
		earliest = due
	}
	if minute := earliest.Truncate(time.Minute); minute.Before(earliest) {
		return minute.Add(time.Minute)
	}
	return earliest
}
