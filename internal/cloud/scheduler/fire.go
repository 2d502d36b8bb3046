package scheduler

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/timetable"
)

// firing is one run of a schedule, as the schedule was when it came due.
type firing struct {
	schedule   *timetable.Schedule
	definition timetable.Definition
	at         time.Time // scheduled
}

// refusal is a failure that no retry can mend.
type refusal struct{ error }

// deliver sends the firing, again and again within its retry policy, then to the dead letters.
func (s *Scheduler) deliver(f firing) {
	execution, started := uuid.NewString(), s.cfg.Now()
	retries, maxAge := f.policy()
	for n := 0; ; n++ {
		payload := f.input(s, execution, n+1)
		err := s.send(f, payload)
		if err == nil {
			break
		}
		if s.ctx.Err() != nil {
			s.leave()
			return
		}
		exhausted := ""
		switch {
		case errors.As(err, new(refusal)):
		case n >= retries:
			exhausted = "MaximumRetryAttempts"
		case s.cfg.Now().Sub(started) >= maxAge:
			exhausted = "MaximumEventAgeInSeconds"
		default:
			s.cfg.Log.Warn("a schedule could not be delivered", "schedule", f.id(), "retry", n+1, "error", err)
			if s.sleep(s.cfg.Backoff(n + 1)) {
				continue
			}
			s.leave()
			return
		}
		s.giveUp(f, payload, n, exhausted, err)
		break
	}
	s.complete(f)
}

func (f firing) id() string { return f.definition.GroupName + "/" + f.definition.Name }

func (f firing) policy() (retries int, maxAge time.Duration) {
	retries, maxAge = 185, 24*time.Hour
	if p := f.definition.Target.RetryPolicy; p != nil && p.MaximumRetryAttempts != nil {
		retries = *p.MaximumRetryAttempts
	}
	if p := f.definition.Target.RetryPolicy; p != nil && p.MaximumEventAgeInSeconds != nil {
		maxAge = time.Duration(*p.MaximumEventAgeInSeconds) * time.Second
	}
	return retries, maxAge
}

// send hands the payload over once.
func (s *Scheduler) send(f firing, payload string) error {
	t := f.definition.Target
	if function := t.Function(); function != "" {
		return s.cfg.Invoker.Enqueue(s.ctx, function, "schedule "+f.definition.Name, []byte(payload))
	}
	p := t.EventBridgeParameters
	results, err := s.cfg.Put([]bus.Entry{{Source: p.Source, DetailType: p.DetailType, Detail: payload, Bus: t.Bus()}})
	if err != nil {
		return err
	}
	switch code := results[0].ErrorCode; code {
	case "":
		return nil
	case "InternalFailure", "ThrottlingException":
		return fmt.Errorf("%s: %s", code, results[0].ErrorMessage)
	default:
		return refusal{fmt.Errorf("%s: %s", code, results[0].ErrorMessage)}
	}
}

// input is the target's input with the context words filled in; a function without one gets Scheduler's own event.
func (f firing) input(s *Scheduler, execution string, attempt int) string {
	text := f.definition.Target.Input
	words := timetable.Firing{ARN: s.arn(f.definition), At: f.at, Execution: execution, Attempt: attempt}
	if text == "" {
		b, err := json.Marshal(map[string]any{
			"version": "0", "id": execution, "detail-type": "Scheduled Event", "source": "aws.scheduler", "account": s.cfg.Stack.Account,
			"time": words.Time(), "region": s.cfg.Stack.Region, "resources": []string{words.ARN}, "detail": "{}",
		})
		if err != nil {
			return "{}"
		}
		return string(b)
	}
	return words.Fill(text)
}

func (s *Scheduler) arn(d timetable.Definition) string {
	return "arn:aws:scheduler:" + s.cfg.Stack.Region + ":" + s.cfg.Stack.Account + ":schedule/" + d.GroupName + "/" + d.Name
}

func (s *Scheduler) giveUp(f firing, payload string, retries int, exhausted string, cause error) {
	s.cfg.Log.Error("a schedule was not delivered", "schedule", f.id(), "error", cause)
	dead := f.definition.Target.DeadLetterConfig
	if dead == nil || dead.Arn == "" || s.cfg.DeadLetter == nil {
		return
	}
	attributes := map[string]string{
		"SCHEDULE_ARN": s.arn(f.definition), "TARGET_ARN": f.definition.Target.Arn, "SCHEDULED_TIME": f.at.UTC().Format("2006-01-02T15:04:05Z"),
		"ERROR_CODE": "SDK_CLIENT_ERROR", "ERROR_MESSAGE": cause.Error(), "RETRY_ATTEMPTS": strconv.Itoa(retries), "IS_PAYLOAD_TRUNCATED": "false",
	}
	if exhausted != "" {
		attributes["EXHAUSTED_RETRY_CONDITION"] = exhausted
	}
	if err := s.cfg.DeadLetter(dead.Arn, []byte(payload), attributes); err != nil {
		s.cfg.Log.Error("the dead letters did not take a schedule's input", "schedule", f.id(), "error", err)
	}
}

// complete ends a firing once it is on disk that it was delivered.
func (s *Scheduler) complete(f firing) {
	s.mu.Lock()
	position := s.finish(f.schedule)
	s.mu.Unlock()
	if err := s.journal.Wait(position); err != nil {
		s.cfg.Log.Error("a schedule may fire again after a restart", "schedule", f.id(), "error", err)
	}
	s.leave()
}

// finish ends a one-time schedule: deleted if it asked for it, else without a next time. One that was changed or
// deleted meanwhile is left alone.
func (s *Scheduler) finish(one *timetable.Schedule) int64 {
	delete(s.busy, one)
	if !one.Once() || s.all.Get(one.ID()) != one {
		return s.journal.Position()
	}
	one.Fired(one.Next)
	switch {
	case s.own[one]:
		return s.journal.Position()
	case one.Completed():
		s.all.Remove(one.ID())
		return s.append(record{Delete: one.ID()})
	}
	return s.append(record{Over: one.ID()})
}

// leave takes a firing off the count.
func (s *Scheduler) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.firing--
	s.settled.Broadcast()
}

func (s *Scheduler) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}
