package fake

import (
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/steadfast-agents/steadfast/internal/timetable"
)

// modeled is a refusal as the client gives it.
func modeled(err error) error {
	var refusal *timetable.Error
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case timetable.CodeMissing:
		return &types.ResourceNotFoundException{Message: &refusal.Message}
	case timetable.CodeConflict:
		return &types.ConflictException{Message: &refusal.Message}
	}
	return &types.ValidationException{Message: &refusal.Message}
}

func arn(s *timetable.Schedule) *string {
	return aws.String("arn:aws:scheduler:us-east-1:000000000000:schedule/" + s.ID())
}

// definition is a call's input in the words of the rules.
func definition(in scheduler.CreateScheduleInput) timetable.Definition {
	d := timetable.Definition{
		Name: aws.ToString(in.Name), GroupName: aws.ToString(in.GroupName), ScheduleExpression: aws.ToString(in.ScheduleExpression),
		ScheduleExpressionTimezone: aws.ToString(in.ScheduleExpressionTimezone), State: string(in.State), ActionAfterCompletion: string(in.ActionAfterCompletion),
		Description: aws.ToString(in.Description), KmsKeyArn: aws.ToString(in.KmsKeyArn), ClientToken: aws.ToString(in.ClientToken),
		StartDate: epoch(in.StartDate), EndDate: epoch(in.EndDate),
	}
	if w := in.FlexibleTimeWindow; w != nil {
		d.FlexibleTimeWindow = &timetable.Window{Mode: string(w.Mode), MaximumWindowInMinutes: number(w.MaximumWindowInMinutes)}
	}
	if t := in.Target; t != nil {
		d.Target = &timetable.Target{Arn: aws.ToString(t.Arn), RoleArn: aws.ToString(t.RoleArn), Input: aws.ToString(t.Input)}
		if p := t.EventBridgeParameters; p != nil {
			d.Target.EventBridgeParameters = &timetable.EventBridgeParameters{DetailType: aws.ToString(p.DetailType), Source: aws.ToString(p.Source)}
		}
		if q := t.DeadLetterConfig; q != nil {
			d.Target.DeadLetterConfig = &timetable.DeadLetterConfig{Arn: aws.ToString(q.Arn)}
		}
		if r := t.RetryPolicy; r != nil {
			d.Target.RetryPolicy = &timetable.RetryPolicy{
				MaximumEventAgeInSeconds: number(r.MaximumEventAgeInSeconds), MaximumRetryAttempts: number(r.MaximumRetryAttempts),
			}
		}
	}
	return d
}

// target is a target as the client gives it, with an input.
func target(t *timetable.Target, input string) *types.Target {
	out := &types.Target{Arn: aws.String(t.Arn), RoleArn: aws.String(t.RoleArn), Input: text(input)}
	if p := t.EventBridgeParameters; p != nil {
		out.EventBridgeParameters = &types.EventBridgeParameters{DetailType: aws.String(p.DetailType), Source: aws.String(p.Source)}
	}
	if q := t.DeadLetterConfig; q != nil {
		out.DeadLetterConfig = &types.DeadLetterConfig{Arn: text(q.Arn)}
	}
	if r := t.RetryPolicy; r != nil {
		out.RetryPolicy = &types.RetryPolicy{MaximumEventAgeInSeconds: narrow(r.MaximumEventAgeInSeconds), MaximumRetryAttempts: narrow(r.MaximumRetryAttempts)}
	}
	return out
}

func window(w *timetable.Window) *types.FlexibleTimeWindow {
	return &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowMode(w.Mode), MaximumWindowInMinutes: narrow(w.MaximumWindowInMinutes)}
}

func epoch(t *time.Time) *timetable.Epoch {
	if t == nil {
		return nil
	}
	return new(timetable.At(*t))
}

func instant(e *timetable.Epoch) *time.Time {
	if e == nil {
		return nil
	}
	return new(e.Time())
}

// text is nil for an empty one.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

func narrow(n *int) *int32 {
	if n == nil {
		return nil
	}
	return new(int32(*n))
}
