package timetable

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/internal/awstime"
)

// Schedule is a definition with its place in time.
type Schedule struct {
	Definition
	Next       time.Time // when it fires; zero: never again
	expression awstime.Expression
}

// ID is group/name.
func (s *Schedule) ID() string { return s.GroupName + "/" + s.Name }

// Once reports whether it fires at one time, and not again and again.
func (s *Schedule) Once() bool { return s.expression.Once() }

// Calendar reports whether it fires by cron.
func (s *Schedule) Calendar() bool { return s.expression.Calendar() }

// Enabled reports whether it may fire.
func (s *Schedule) Enabled() bool { return s.State != "DISABLED" }

// Compile reads a definition that was checked before: the schedule has no next time until Advance gives it one.
func (d Definition) Compile() (*Schedule, error) {
	zone := d.ScheduleExpressionTimezone
	if zone == "" {
		zone = "UTC"
	}
	location, err := awstime.Zone(zone)
	if err != nil {
		return nil, err
	}
	d.ScheduleExpressionTimezone = zone
	e, err := awstime.Parse(d.ScheduleExpression, location)
	if err != nil {
		return nil, fmt.Errorf("invalid ScheduleExpression %w", err)
	}
	return &Schedule{Definition: d, expression: e}, nil
}

// Advance sets the next time after now, within the schedule's dates. A one-time schedule's is its time, also when that is past: it
// counts until Fired.
func (s *Schedule) Advance(now time.Time) {
	s.Next = time.Time{}
	if s.Once() {
		s.Next = s.expression.At()
		return
	}
	after, anchor := now, s.Created
	if s.StartDate != nil {
		start := s.StartDate.Time()
		anchor = start.Add(-s.expression.Period())
		if just := start.Add(-time.Nanosecond); just.After(after) {
			after = just
		}
	}
	next, ok := s.expression.Next(after, anchor)
	if ok && (s.EndDate == nil || !next.After(s.EndDate.Time())) {
		s.Next = next
	}
}

// Fired sets the next time after a firing, or after what would have been one.
func (s *Schedule) Fired(at time.Time) {
	if s.Once() {
		s.Next = time.Time{}
		return
	}
	s.Advance(at)
}

// Completed reports whether the schedule is to be deleted: it never fires again and asked for it.
func (s *Schedule) Completed() bool {
	return s.Next.IsZero() && s.Enabled() && s.ActionAfterCompletion == "DELETE"
}

// Firing is what Scheduler's own words stand for in one delivery.
type Firing struct {
	ARN       string // of the schedule
	At        time.Time
	Execution string // the same for all attempts
	Attempt   int    // 1 for the first
}

// Time is the time of the firing as Scheduler writes it.
func (f Firing) Time() string { return f.At.UTC().Format("2006-01-02T15:04:05Z") }

// Fill puts a firing's values in the place of the words <aws.scheduler...>.
func (f Firing) Fill(input string) string {
	return strings.NewReplacer("<aws.scheduler.schedule-arn>", f.ARN, "<aws.scheduler.scheduled-time>", f.Time(),
		"<aws.scheduler.execution-id>", f.Execution, "<aws.scheduler.attempt-number>", strconv.Itoa(f.Attempt)).Replace(input)
}
