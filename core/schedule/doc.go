// Package schedule knows when: delays, instants, wall times with their zones, five-field cron, the times at which it comes due,
// and how EventBridge Scheduler writes it. It decides nothing about what is due, keeps no clock and calls no service.
//
// Where clocks are changed:
//
//	            one time (at)                    recurring (cron), SkipGap        recurring (cron), AfterGap
//	skipped     first instant after the gap      not on that day                  first instant after the gap
//	repeated    the first of the two             the first of the two             the first of the two
//
// SkipGap is what EventBridge Scheduler does by itself with a time zone.
package schedule

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// MaxAhead is how far ahead something may be scheduled.
const MaxAhead = 366 * 24 * time.Hour

// maxZone is the service's limit of a zone's name.
const maxZone = 50

// Zone loads a time zone by its IANA name; "" is UTC. Faults: Invalid.
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" || len(name) > maxZone {
		return nil, fault.New(fault.Invalid, "timezone: %q is no time zone; names are like Europe/Berlin", clip(name))
	}
	return zone, nil
}

// clip keeps what a person wrote short enough for a message.
func clip(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return text
}
