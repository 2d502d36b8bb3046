// Package scheduler is the local EventBridge Scheduler: its REST API, with the rules of internal/timetable for names, groups,
// expressions, zones, sizes and past times, and a clock that fires schedules at functions and at the bus, at least once, with retries
// and dead letters.
//
// The template's own rate() and at() schedules always fire, as do at() schedules made through the API; what recurs
// otherwise fires only with FireSchedules. With a data folder schedules survive a restart; a one-time schedule that
// came due meanwhile fires at once, recurring ones go on with their next time. Flexible windows fire at their beginning;
// tags and encryption keys are refused.
package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/journal"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
	"github.com/steadfast-agents/steadfast/internal/timetable"
)

// Config says what to fire and where to.
type Config struct {
	Stack *sam.Stack // Schedules, Region and Account are read
	// Groups are the template's schedule groups; "default" is always there.
	Groups []string
	// Invoker takes over what a schedule sends to a function.
	Invoker interface {
		Enqueue(ctx context.Context, function, trigger string, payload []byte) error
	}
	// Put puts what a schedule sends to a bus.
	Put func([]bus.Entry) ([]bus.Result, error)
	// DeadLetter takes what no retry could deliver; nil: it is logged and dropped.
	DeadLetter    func(queueARN string, body []byte, attributes map[string]string) error
	FireSchedules bool             // also fire cron() and the API's rate()
	Data          string           // folder of the journal, made if missing; empty: in memory
	Log           *slog.Logger     // nil: discarded
	Now           func() time.Time // default time.Now
	// Backoff is the wait before a retry (1 for the first), default 1 s doubling up to 1 minute.
	Backoff func(retry int) time.Duration
	// Manual leaves the clock to Tick (tests).
	Manual bool
}

// Scheduler is an http.Handler, safe for concurrent use.
type Scheduler struct {
	cfg     Config
	journal *journal.Journal
	ctx     context.Context
	cancel  context.CancelFunc
	ended   sync.WaitGroup

	mu      sync.Mutex
	settled sync.Cond // a firing ended
	all     timetable.Table
	own     map[*timetable.Schedule]bool // of the template: not kept, not changed through the API
	busy    map[*timetable.Schedule]bool // one-time schedules being delivered
	groups  map[string]time.Time         // creation
	firing  int                          // under way
}

// Open reads the template's schedules, replays the journal and starts the clock.
func Open(cfg Config) (*Scheduler, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Backoff == nil {
		cfg.Backoff = func(retry int) time.Duration { return min(time.Second<<min(retry-1, 6), time.Minute) }
	}
	s := &Scheduler{cfg: cfg, own: map[*timetable.Schedule]bool{}, busy: map[*timetable.Schedule]bool{}, groups: map[string]time.Time{}}
	s.all.HasGroup = func(name string) bool { _, ok := s.groups[name]; return ok }
	s.settled.L = &s.mu
	for _, g := range append([]string{timetable.DefaultGroup}, cfg.Groups...) {
		s.groups[g] = cfg.Now()
	}
	if cfg.Data != "" {
		j, err := journal.Open(cfg.Data, "schedules", s.replay)
		if err != nil {
			return nil, fmt.Errorf("open schedules: %w", err)
		}
		s.journal = j
	}
	if err := s.addOwn(); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if !cfg.Manual {
		s.ended.Go(s.run)
	}
	return s, nil
}

// addOwn takes in the template's schedules. They count from now: a rate fires first after one period.
func (s *Scheduler) addOwn() error {
	for _, t := range s.cfg.Stack.Schedules {
		d := timetable.Definition{
			Name: t.Name, GroupName: timetable.DefaultGroup, ScheduleExpression: t.Expression, ScheduleExpressionTimezone: t.TimeZone,
			State: "ENABLED", ActionAfterCompletion: "NONE", FlexibleTimeWindow: &timetable.Window{Mode: "OFF"}, Created: s.cfg.Now(), Modified: s.cfg.Now(),
			Target: &timetable.Target{Arn: "arn:aws:lambda:" + s.cfg.Stack.Region + ":" + s.cfg.Stack.Account + ":function:" + t.Function, Input: string(t.Input)},
		}
		one, err := d.Compile()
		if err != nil {
			return fmt.Errorf("schedule %s: %w", t.Name, err)
		}
		s.own[one] = true
		if !one.Once() { // the next firing makes good for a failed one
			one.Target.RetryPolicy = &timetable.RetryPolicy{MaximumRetryAttempts: new(int)}
		}
		one.Advance(s.cfg.Now())
		s.all.Put(one)
	}
	return nil
}

// Close stops the clock. One-time schedules that were being delivered fire again after the next start.
func (s *Scheduler) Close() error {
	s.cancel()
	s.ended.Wait()
	return s.journal.Close()
}

func (s *Scheduler) run() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			s.Tick(s.cfg.Now())
		}
	}
}

// Tick fires every schedule that is due at now, each at most once, and returns how many. It does not wait for deliveries.
func (s *Scheduler) Tick(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	fired := 0
	for _, one := range s.all.All() {
		if !s.due(one, now) {
			continue
		}
		f := firing{schedule: one, definition: one.Definition, at: one.Next}
		if one.Once() {
			s.busy[one] = true
		} else {
			one.Fired(now)
		}
		fired++
		s.firing++
		s.ended.Go(func() { s.deliver(f) })
	}
	s.clean()
	return fired
}

// due reports whether the schedule fires now. What must not fire locally moves on all the same.
func (s *Scheduler) due(one *timetable.Schedule, now time.Time) bool {
	if one.Next.IsZero() || one.Next.After(now) || s.busy[one] || !one.Enabled() {
		return false
	}
	if s.fires(one) {
		return true
	}
	one.Fired(now)
	return false
}

// fires tells which schedules are live on a developer's machine.
func (s *Scheduler) fires(one *timetable.Schedule) bool {
	return s.cfg.FireSchedules || one.Once() || (s.own[one] && !one.Calendar())
}

// clean deletes recurring schedules that are completed.
func (s *Scheduler) clean() {
	for _, one := range s.all.All() {
		if !one.Once() && one.Completed() {
			s.all.Remove(one.ID())
			s.append(record{Delete: one.ID()})
		}
	}
}
