package fake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
)

// next is when the schedule fires next, zero if never again.
func (o *schedule) next() time.Time {
	if o.in.State == types.ScheduleStateDisabled {
		return time.Time{}
	}
	from, start := o.last, o.made
	if o.in.StartDate != nil && !o.expression.Once() {
		start = *o.in.StartDate
		if before := start.Add(-time.Nanosecond); before.After(from) {
			from = before
		}
	}
	at, ok := o.expression.Next(from, start)
	if !ok {
		return time.Time{}
	}
	if o.in.EndDate != nil && !o.expression.Once() && at.After(*o.in.EndDate) {
		return time.Time{}
	}
	return at
}

// Due gives the time of the next firing of any schedule, zero if there is none.
func (s *Scheduler) Due() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first time.Time
	for _, one := range s.schedules {
		if at := one.next(); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Tick fires everything that is due by Now, in order of time, and gives the firings. Those whose target is an event bus are put on
// Bus. A one-time schedule with ActionAfterCompletion DELETE is gone afterwards, another one stays and never fires again.
func (s *Scheduler) Tick() []Firing {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var fired []Firing
	for _, key := range s.keys() {
		one := s.schedules[key]
		for at := one.next(); !at.IsZero() && !at.After(now); at = one.next() {
			one.last = at
			one.fired++
			fired = append(fired, one.firing(at))
		}
		if one.in.ActionAfterCompletion == types.ActionAfterCompletionDelete && one.next().IsZero() && one.in.State != types.ScheduleStateDisabled {
			delete(s.schedules, key)
		}
	}
	slices.SortStableFunc(fired, func(a, b Firing) int { return a.At.Compare(b.At) })
	for _, f := range fired {
		s.send(f)
	}
	return fired
}

// firing fills the words that Scheduler itself provides into the target's input.
func (o *schedule) firing(at time.Time) Firing {
	target := *o.in.Target
	if target.Input != nil {
		target.Input = aws.String(strings.NewReplacer(
			"<aws.scheduler.schedule-arn>", *arn(o.in),
			"<aws.scheduler.scheduled-time>", at.UTC().Format("2006-01-02T15:04:05Z"),
			"<aws.scheduler.execution-id>", fmt.Sprintf("%s-%d", *o.in.Name, o.fired),
			"<aws.scheduler.attempt-number>", "1",
		).Replace(*target.Input))
	}
	return Firing{Group: *o.in.GroupName, Name: *o.in.Name, At: at, Target: target}
}

// send puts a firing on the bus, from the inside: it is no call of a worker.
func (s *Scheduler) send(f Firing) {
	p := f.Target.EventBridgeParameters
	if p == nil || s.Bus == nil {
		return
	}
	bus := (*f.Target.Arn)[strings.LastIndex(*f.Target.Arn, "/")+1:]
	s.Bus.put(ebtypes.PutEventsRequestEntry{Source: p.Source, DetailType: p.DetailType, Detail: f.Target.Input, EventBusName: &bus})
}
