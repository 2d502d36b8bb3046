// Package later puts events on the bus at a time to come, by schedules of EventBridge Scheduler: one-time ones that delete themselves
// (Events), and groups that are made equal to what a program asks for (Group). Flows know neither Scheduler nor this package, so that
// only functions that make schedules link its client. It does not read the clock itself, and fires nothing.
package later

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/task"
)

// MaxInput is EventBridge Scheduler's limit of a schedule's input, in bytes.
const MaxInput = 256 * 1024

// SchedulerAPI is what later events need of EventBridge Scheduler's client.
type SchedulerAPI interface {
	CreateSchedule(context.Context, *scheduler.CreateScheduleInput, ...func(*scheduler.Options)) (*scheduler.CreateScheduleOutput, error)
	UpdateSchedule(context.Context, *scheduler.UpdateScheduleInput, ...func(*scheduler.Options)) (*scheduler.UpdateScheduleOutput, error)
	GetSchedule(context.Context, *scheduler.GetScheduleInput, ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error)
	DeleteSchedule(context.Context, *scheduler.DeleteScheduleInput, ...func(*scheduler.Options)) (*scheduler.DeleteScheduleOutput, error)
}

// Events puts events on the bus later, by one-time schedules that delete themselves. It is a plain value, safe for concurrent use.
type Events struct {
	Scheduler  SchedulerAPI
	Bus        bus.Bus // what cannot wait for Scheduler goes out here at once
	Group      string  // of the schedules, default "default"
	RoleARN    string  // what Scheduler puts events as
	BusARN     string  // of Bus
	DeadLetter string  // ARN of the queue for what Scheduler could not deliver; "": it is dropped after Scheduler's own retries
	Now        func() time.Time
}

// Send puts an event on the bus at its time: never early, at least once, and late by up to a minute. What is past or now goes out at
// once, and so does within schedule.Near what Waits: it carries its time as notBefore. at is when the schedule runs, e's own time where
// another was kept, zero for what went out. Doing it again comes to the same, but what went out goes out again. Faults: Invalid
// (Scheduler or the bus refuses it), Limit (too large), Unavailable.
func (l Events) Send(ctx context.Context, e bus.Timed) (at time.Time, err error) {
	now := l.Now()
	waits := e.Waits || e.DetailType == contract.RunAgentTask
	if waits && e.At.After(now) {
		if e.Detail, err = withNotBefore(e.Detail, e.At); err != nil {
			return time.Time{}, err
		}
	}
	if !e.At.After(now) || waits && e.At.Sub(now) <= schedule.Near {
		kept, err := l.sendNow(ctx, e)
		if kept {
			return e.At, err
		}
		return time.Time{}, err
	}
	at = schedule.FarEnough(e.At, now)
	detail, err := l.detail(ctx, e, at)
	if err != nil {
		return time.Time{}, err
	}
	return at, l.Put(ctx, bus.Schedule{
		Name: e.Name, Expression: schedule.AtExpression(at), Source: e.Source, DetailType: e.DetailType, Detail: detail, Keep: e.Keep,
	})
}

// withNotBefore adds the time to a detail that has none.
func withNotBefore(detail json.RawMessage, at time.Time) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(detail, &fields); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "detail: must be an object")
	}
	if _, has := fields["notBefore"]; has {
		return detail, nil
	}
	fields["notBefore"], _ = json.Marshal(contract.At(at)) // text always encodes
	out, err := json.Marshal(fields)
	return out, fault.Wrap(fault.Internal, err, "encode a detail")
}

// sendNow publishes, after whatever waits under the name is gone: it is to come once. One that is kept comes at its own time.
func (l Events) sendNow(ctx context.Context, e bus.Timed) (kept bool, err error) {
	if e.Keep {
		if kept, err = l.waits(ctx, e.Name); kept || err != nil {
			return kept, err
		}
	}
	if err := l.Cancel(ctx, e.Name); err != nil {
		return false, err
	}
	b := l.Bus
	b.Source = cmp.Or(e.Source, b.Source)
	return false, b.Publish(ctx, bus.Event{DetailType: e.DetailType, Detail: e.Detail})
}

// detail is what Scheduler is to send.
func (l Events) detail(ctx context.Context, e bus.Timed, at time.Time) (string, error) {
	detail, err := l.Bus.Refer(ctx, e.Detail, at)
	if err != nil {
		return "", err
	}
	// Scheduler fills its own words <aws.scheduler...> in wherever they stand: encoded anew no < is left.
	detail, err = json.Marshal(json.RawMessage(detail))
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "detail: must be JSON")
	}
	if len(detail) > MaxInput {
		return "", fault.New(fault.Limit, "an event's detail has %d bytes, the limit of one that is scheduled is %d", len(detail), MaxInput)
	}
	return string(detail), nil
}

// target puts a schedule's event on the bus.
func (l Events) target(s bus.Schedule) *types.Target {
	source := cmp.Or(s.Source, l.Bus.Source, contract.Source)
	t := &types.Target{
		Arn: &l.BusARN, RoleArn: &l.RoleARN, Input: &s.Detail,
		EventBridgeParameters: &types.EventBridgeParameters{DetailType: &s.DetailType, Source: &source},
	}
	if l.DeadLetter != "" {
		t.DeadLetterConfig = &types.DeadLetterConfig{Arn: &l.DeadLetter}
	}
	return t
}

// RunTask sends a task at its NotBefore, once for each task id: one that waits already stays as it is. Faults as Send.
func (l Events) RunTask(ctx context.Context, r task.Request) error {
	at, err := r.NotBefore.Time()
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "notBefore of task %s", r.TaskID)
	}
	detail, err := json.Marshal(r)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	_, err = l.Send(ctx, bus.Timed{
		Name: schedule.Name(schedule.Event, r.TaskID), At: at, Source: r.Source, DetailType: contract.RunAgentTask, Detail: detail, Keep: true,
	})
	return err
}

// maxPuts bounds how often a schedule that comes and goes is put.
const maxPuts = 5

// Put makes a schedule, or replaces the one that has its name. Idempotent. Faults: Invalid (Scheduler will never take it), Unavailable.
func (l Events) Put(ctx context.Context, s bus.Schedule) error {
	create := l.input(s)
	for range maxPuts {
		_, err := l.Scheduler.CreateSchedule(ctx, create)
		if code(err) != "ConflictException" {
			return l.explain(err, s.Name)
		}
		if s.Keep {
			return nil
		}
		_, err = l.Scheduler.UpdateSchedule(ctx, &scheduler.UpdateScheduleInput{
			Name: create.Name, GroupName: create.GroupName, ScheduleExpression: create.ScheduleExpression, ScheduleExpressionTimezone: create.ScheduleExpressionTimezone, FlexibleTimeWindow: create.FlexibleTimeWindow,
			Target: create.Target, ActionAfterCompletion: create.ActionAfterCompletion,
		})
		if code(err) != "ResourceNotFoundException" { // else it has just fired, or was cancelled
			return l.explain(err, s.Name)
		}
	}
	return fault.New(fault.Unavailable, "schedule %s comes and goes, try again", s.Name)
}

// input leaves the client token to the client, which makes a new one for each call: a token of ours would have a schedule that has
// fired since taken for one that is there.
func (l Events) input(s bus.Schedule) *scheduler.CreateScheduleInput {
	after := types.ActionAfterCompletionNone
	if strings.HasPrefix(s.Expression, "at(") {
		after = types.ActionAfterCompletionDelete
	}
	group, zone := cmp.Or(l.Group, "default"), cmp.Or(s.TimeZone, "UTC")
	return &scheduler.CreateScheduleInput{
		Name: &s.Name, GroupName: &group, ScheduleExpression: &s.Expression, ScheduleExpressionTimezone: &zone, Target: l.target(s), ActionAfterCompletion: after,
		FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
	}
}

// waits reports whether there is a schedule of the name.
func (l Events) waits(ctx context.Context, name string) (bool, error) {
	group := cmp.Or(l.Group, "default")
	_, err := l.Scheduler.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: &name, GroupName: &group})
	if code(err) == "ResourceNotFoundException" {
		return false, nil
	}
	return err == nil, l.explain(err, name)
}

// Cancel deletes a schedule. It is no error if there is none of that name. Faults: Unavailable.
func (l Events) Cancel(ctx context.Context, name string) error {
	group := cmp.Or(l.Group, "default")
	_, err := l.Scheduler.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{Name: &name, GroupName: &group})
	if code(err) == "ResourceNotFoundException" {
		return nil
	}
	return l.explain(err, name)
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// explain gives an error of Scheduler a code. All but what it says of the schedule itself may pass: quotas, a group or a grant that
// is not there yet.
func (l Events) explain(err error, name string) error {
	switch {
	case err == nil:
		return nil
	case code(err) == "ValidationException":
		return fault.Wrap(fault.Invalid, err, "the scheduler refuses schedule %s", name)
	}
	return fault.Wrap(fault.Unavailable, fmt.Errorf("schedule %s: %w", name, err), "the scheduler does not answer")
}
