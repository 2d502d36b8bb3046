// Package scheduler is the local EventBridge Scheduler: its REST API with the real rules for names, groups, expressions,
// zones, sizes and past times, and a clock that fires schedules at functions and at the bus, at least once, with retries
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

	"github.com/steadfast-agents/steadfast/internal/awstime"
	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/journal"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// defaultGroup always exists.
const defaultGroup = "default"

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
	settled sync.Cond            // a firing ended
	all     map[string]*schedule // by group/name
	groups  map[string]time.Time // creation
	firing  int                  // under way
}

// schedule is one schedule with its place in time.
type schedule struct {
	Definition
	expression awstime.Expression
	own        bool      // of the template: not kept, not changed through the API
	next       time.Time // zero: none any more
	busy       bool      // a one-time schedule being delivered
}

func (s *schedule) id() string { return s.GroupName + "/" + s.Name }

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
	s := &Scheduler{cfg: cfg, all: map[string]*schedule{}, groups: map[string]time.Time{}}
	s.settled.L = &s.mu
	for _, g := range append([]string{defaultGroup}, cfg.Groups...) {
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
		d := Definition{
			Name: t.Name, GroupName: defaultGroup, ScheduleExpression: t.Expression, ScheduleExpressionTimezone: t.TimeZone,
			State: "ENABLED", ActionAfterCompletion: "NONE", FlexibleTimeWindow: &Window{Mode: "OFF"}, Created: s.cfg.Now(), Modified: s.cfg.Now(),
			Target: &Target{Arn: "arn:aws:lambda:" + s.cfg.Stack.Region + ":" + s.cfg.Stack.Account + ":function:" + t.Function, Input: string(t.Input)},
		}
		one, err := d.compile()
		if err != nil {
			return fmt.Errorf("schedule %s: %w", t.Name, err)
		}
		one.own = true
		if !one.expression.Once() { // the next firing makes good for a failed one
			one.Target.RetryPolicy = &RetryPolicy{MaximumRetryAttempts: new(int)}
		}
		one.advance(s.cfg.Now())
		s.all[one.id()] = one
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
	for _, one := range s.all {
		if !s.due(one, now) {
			continue
		}
		f := firing{schedule: one, definition: one.Definition, at: one.next}
		if one.expression.Once() {
			one.busy = true
		} else {
			one.advance(now)
		}
		fired++
		s.firing++
		s.ended.Go(func() { s.deliver(f) })
	}
	s.clean(now)
	return fired
}

// due reports whether the schedule fires now. What must not fire locally moves on all the same.
func (s *Scheduler) due(one *schedule, now time.Time) bool {
	if one.next.IsZero() || one.next.After(now) || one.busy || one.State == "DISABLED" {
		return false
	}
	if s.fires(one) {
		return true
	}
	one.advance(now)
	return false
}

// fires tells which schedules are live on a developer's machine.
func (s *Scheduler) fires(one *schedule) bool {
	return s.cfg.FireSchedules || one.expression.Once() || (one.own && !one.expression.Calendar())
}

// clean deletes recurring schedules that have ended and asked for it.
func (s *Scheduler) clean(now time.Time) {
	for id, one := range s.all {
		over := one.next.IsZero() && !one.expression.Once() && one.EndDate != nil && one.EndDate.Time().Before(now)
		if over && one.ActionAfterCompletion == "DELETE" {
			delete(s.all, id)
			s.append(record{Delete: id})
		}
	}
}

// advance sets the next time after now, within the schedule's dates.
func (s *schedule) advance(now time.Time) {
	s.next = time.Time{}
	if s.expression.Once() {
		s.next = s.expression.At()
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
		s.next = next
	}
}
