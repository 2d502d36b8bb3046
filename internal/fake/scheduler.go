package fake

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"

	"github.com/steadfast-agents/steadfast/internal/awstime"
)

// Limits of EventBridge Scheduler.
const (
	MaxScheduleName  = 64
	MaxScheduleInput = 256 * 1024
)

// Scheduler is EventBridge Scheduler, driven by its clock: schedules fire when Tick is called. Names, expressions, zones,
// targets and windows are checked as by the service, and an at() in the past is refused. A repeated ClientToken of CreateSchedule is
// answered again.
type Scheduler struct {
	World *World
	Now   func() time.Time // nil: always Start

	Groups []string // groups that exist beside "default"; nil: all
	Bus    *Bus     // takes the events of firings whose target is a bus; nil: they are only reported

	mu        sync.Mutex
	schedules map[string]*schedule // by group/name
}

// schedule is a stored schedule.
type schedule struct {
	in         scheduler.CreateScheduleInput
	expression awstime.Expression
	made, last time.Time
	fired      int
}

// Firing is one firing of a schedule.
type Firing struct {
	Group, Name string
	At          time.Time
	Target      types.Target // Input with Scheduler's own words filled in
}

func (s *Scheduler) now() time.Time {
	if s.Now == nil {
		return Start()
	}
	return s.Now()
}

// CreateSchedule makes a schedule. Faults: ValidationException, ConflictException (the name is taken), ResourceNotFoundException
// (no such group).
func (s *Scheduler) CreateSchedule(ctx context.Context, in *scheduler.CreateScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.CreateScheduleOutput, error) {
	return scheduleCall(ctx, s, "CreateSchedule", in.Name, func() (*scheduler.CreateScheduleOutput, error) {
		one, err := s.check(*in)
		if err != nil {
			return nil, err
		}
		out := &scheduler.CreateScheduleOutput{ScheduleArn: arn(one.in)}
		if old := s.schedules[id(in.GroupName, in.Name)]; old != nil {
			if in.ClientToken != nil && aws.ToString(old.in.ClientToken) == *in.ClientToken {
				return out, nil
			}
			return nil, &types.ConflictException{Message: aws.String("Schedule " + *in.Name + " already exists.")}
		}
		s.keep(one)
		return out, nil
	})
}

// UpdateSchedule replaces a schedule as a whole. Faults: ValidationException, ResourceNotFoundException.
func (s *Scheduler) UpdateSchedule(ctx context.Context, in *scheduler.UpdateScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.UpdateScheduleOutput, error) {
	return scheduleCall(ctx, s, "UpdateSchedule", in.Name, func() (*scheduler.UpdateScheduleOutput, error) {
		one, err := s.check(scheduler.CreateScheduleInput{
			Name: in.Name, GroupName: in.GroupName, ScheduleExpression: in.ScheduleExpression, ScheduleExpressionTimezone: in.ScheduleExpressionTimezone,
			FlexibleTimeWindow: in.FlexibleTimeWindow, Target: in.Target, ActionAfterCompletion: in.ActionAfterCompletion, ClientToken: in.ClientToken,
			Description: in.Description, StartDate: in.StartDate, EndDate: in.EndDate, KmsKeyArn: in.KmsKeyArn, State: in.State,
		})
		if err != nil {
			return nil, err
		}
		if _, err := s.find(in.GroupName, in.Name); err != nil {
			return nil, err
		}
		s.keep(one)
		return &scheduler.UpdateScheduleOutput{ScheduleArn: arn(one.in)}, nil
	})
}

// GetSchedule reads a schedule. Faults: ResourceNotFoundException.
func (s *Scheduler) GetSchedule(ctx context.Context, in *scheduler.GetScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error) {
	return scheduleCall(ctx, s, "GetSchedule", in.Name, func() (*scheduler.GetScheduleOutput, error) {
		one, err := s.find(in.GroupName, in.Name)
		if err != nil {
			return nil, err
		}
		c := one.in
		return &scheduler.GetScheduleOutput{
			Name: c.Name, GroupName: c.GroupName, Arn: arn(c), ScheduleExpression: c.ScheduleExpression, ScheduleExpressionTimezone: c.ScheduleExpressionTimezone,
			FlexibleTimeWindow: c.FlexibleTimeWindow, Target: c.Target, ActionAfterCompletion: c.ActionAfterCompletion, Description: c.Description,
			StartDate: c.StartDate, EndDate: c.EndDate, KmsKeyArn: c.KmsKeyArn, State: c.State, CreationDate: aws.Time(one.made),
		}, nil
	})
}

// DeleteSchedule takes a schedule away. Faults: ResourceNotFoundException.
func (s *Scheduler) DeleteSchedule(ctx context.Context, in *scheduler.DeleteScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.DeleteScheduleOutput, error) {
	return scheduleCall(ctx, s, "DeleteSchedule", in.Name, func() (*scheduler.DeleteScheduleOutput, error) {
		if _, err := s.find(in.GroupName, in.Name); err != nil {
			return nil, err
		}
		delete(s.schedules, id(in.GroupName, in.Name))
		return &scheduler.DeleteScheduleOutput{}, nil
	})
}

// ListSchedules lists by group and prefix, in order of names, MaxResults (100) at a time.
func (s *Scheduler) ListSchedules(ctx context.Context, in *scheduler.ListSchedulesInput, _ ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error) {
	return scheduleCall(ctx, s, "ListSchedules", in.NamePrefix, func() (*scheduler.ListSchedulesOutput, error) {
		out := &scheduler.ListSchedulesOutput{}
		limit := int(aws.ToInt32(in.MaxResults))
		if limit == 0 {
			limit = 100
		}
		for _, key := range s.keys() {
			c := s.schedules[key].in
			if in.GroupName != nil && *c.GroupName != *in.GroupName || !strings.HasPrefix(*c.Name, aws.ToString(in.NamePrefix)) || key <= aws.ToString(in.NextToken) {
				continue
			}
			if len(out.Schedules) == limit {
				last := out.Schedules[limit-1]
				out.NextToken = aws.String(id(last.GroupName, last.Name))
				return out, nil
			}
			out.Schedules = append(out.Schedules, types.ScheduleSummary{Name: c.Name, GroupName: c.GroupName, Arn: arn(c), State: c.State, Target: &types.TargetSummary{Arn: c.Target.Arn}})
		}
		return out, nil
	})
}

// Names lists the schedules that exist, as group/name. It is no call.
func (s *Scheduler) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys()
}

func (s *Scheduler) keys() []string {
	var keys []string
	for key := range s.schedules {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func id(group, name *string) string { return groupOf(group) + "/" + aws.ToString(name) }

func groupOf(group *string) string {
	if group == nil {
		return "default"
	}
	return *group
}

func arn(in scheduler.CreateScheduleInput) *string {
	return aws.String("arn:aws:scheduler:us-east-1:000000000000:schedule/" + id(in.GroupName, in.Name))
}

func (s *Scheduler) find(group, name *string) (*schedule, error) {
	one := s.schedules[id(group, name)]
	if one == nil {
		return nil, &types.ResourceNotFoundException{Message: aws.String("Schedule " + aws.ToString(name) + " does not exist.")}
	}
	return one, nil
}

func (s *Scheduler) keep(one *schedule) {
	if s.schedules == nil {
		s.schedules = map[string]*schedule{}
	}
	s.schedules[id(one.in.GroupName, one.in.Name)] = one
}

func scheduleCall[T any](ctx context.Context, s *Scheduler, operation string, name *string, effect func() (T, error)) (T, error) {
	out, err := through(ctx, s.World, "scheduler."+operation, aws.ToString(name), func() (T, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return effect()
	})
	if err == nil {
		return out, nil
	}
	var none T
	if errors.Is(err, ErrThrottled) {
		err = &types.ThrottlingException{Message: aws.String("Rate exceeded")}
	}
	var modeled smithy.APIError
	if errors.As(err, &modeled) {
		return none, &smithy.OperationError{ServiceID: "Scheduler", OperationName: operation, Err: err}
	}
	return none, serviceError("Scheduler", operation, err)
}
