package fake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/steadfast-agents/steadfast/internal/timetable"
)

// Due gives the time of the next firing of any schedule, zero if there is none.
func (s *Scheduler) Due() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first time.Time
	for _, one := range s.all.All() {
		if at := one.Next; one.Enabled() && !at.IsZero() && (first.IsZero() || at.Before(first)) {
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
	for _, one := range s.all.All() {
		for one.Enabled() && !one.Next.IsZero() && !one.Next.After(now) {
			fired = append(fired, s.firing(one))
			one.Fired(one.Next)
		}
		if one.Completed() {
			s.all.Remove(one.ID())
		}
	}
	slices.SortStableFunc(fired, func(a, b Firing) int { return a.At.Compare(b.At) })
	for _, f := range fired {
		s.send(f)
	}
	return fired
}

// firing fills the words that Scheduler itself provides into the target's input.
func (s *Scheduler) firing(one *timetable.Schedule) Firing {
	if s.fired == nil {
		s.fired = map[string]int{}
	}
	s.fired[one.ID()]++
	words := timetable.Firing{ARN: *arn(one), At: one.Next, Execution: fmt.Sprintf("%s-%d", one.Name, s.fired[one.ID()]), Attempt: 1}
	return Firing{Group: one.GroupName, Name: one.Name, At: one.Next, Target: *target(one.Target, words.Fill(one.Target.Input))}
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
