package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Upcoming lists the next times of all schedules, soonest first: what is shown to the developer.
func (s *Scheduler) Upcoming() []Upcoming {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Upcoming
	for _, one := range s.all.All() {
		if !one.Next.IsZero() && one.Enabled() {
			out = append(out, Upcoming{one.ID(), one.ScheduleExpression, one.Next, s.fires(one)})
		}
	}
	slices.SortFunc(out, func(a, b Upcoming) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.Schedule, b.Schedule)
	})
	return out
}

// Upcoming is one schedule's next time, and whether it will fire here.
type Upcoming struct {
	Schedule   string // group/name
	Expression string
	At         time.Time
	Fires      bool
}

// Drain waits until nothing that fired is under way, or for ctx.
func (s *Scheduler) Drain(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.settled.Broadcast()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.firing > 0 && ctx.Err() == nil {
		s.settled.Wait()
	}
	if s.firing > 0 {
		return fmt.Errorf("%d schedules are being delivered: %w", s.firing, ctx.Err())
	}
	return nil
}
