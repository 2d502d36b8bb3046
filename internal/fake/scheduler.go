package fake

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"

	"github.com/steadfast-agents/steadfast/internal/timetable"
)

// Scheduler is EventBridge Scheduler, driven by its clock: schedules fire when Tick is called. What it takes, what is a conflict, when
// schedules fire and when they go are the rules of internal/timetable, which the local cloud has too.
type Scheduler struct {
	World *World
	Now   func() time.Time // nil: always Start

	Groups []string // groups that exist beside "default"; nil: all
	Bus    *Bus     // takes the events of firings whose target is a bus; nil: they are only reported

	mu    sync.Mutex
	all   timetable.Table
	fired map[string]int // firings so far, by group/name
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
		one, _, err := s.table().Create(definition(*in), s.now())
		if err != nil {
			return nil, modeled(err)
		}
		return &scheduler.CreateScheduleOutput{ScheduleArn: arn(one)}, nil
	})
}

// UpdateSchedule replaces a schedule as a whole. Faults: ValidationException, ResourceNotFoundException.
func (s *Scheduler) UpdateSchedule(ctx context.Context, in *scheduler.UpdateScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.UpdateScheduleOutput, error) {
	return scheduleCall(ctx, s, "UpdateSchedule", in.Name, func() (*scheduler.UpdateScheduleOutput, error) {
		one, err := s.table().Update(definition(scheduler.CreateScheduleInput{
			Name: in.Name, GroupName: in.GroupName, ScheduleExpression: in.ScheduleExpression, ScheduleExpressionTimezone: in.ScheduleExpressionTimezone,
			FlexibleTimeWindow: in.FlexibleTimeWindow, Target: in.Target, ActionAfterCompletion: in.ActionAfterCompletion, ClientToken: in.ClientToken,
			Description: in.Description, StartDate: in.StartDate, EndDate: in.EndDate, KmsKeyArn: in.KmsKeyArn, State: in.State,
		}), s.now())
		if err != nil {
			return nil, modeled(err)
		}
		return &scheduler.UpdateScheduleOutput{ScheduleArn: arn(one)}, nil
	})
}

// GetSchedule reads a schedule. Faults: ResourceNotFoundException.
func (s *Scheduler) GetSchedule(ctx context.Context, in *scheduler.GetScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error) {
	return scheduleCall(ctx, s, "GetSchedule", in.Name, func() (*scheduler.GetScheduleOutput, error) {
		one, err := s.all.Find(aws.ToString(in.GroupName), aws.ToString(in.Name))
		if err != nil {
			return nil, modeled(err)
		}
		c := one.Definition // what callers get is theirs
		return &scheduler.GetScheduleOutput{
			Name: &c.Name, GroupName: &c.GroupName, Arn: arn(one), ScheduleExpression: &c.ScheduleExpression,
			ScheduleExpressionTimezone: &c.ScheduleExpressionTimezone, FlexibleTimeWindow: window(c.FlexibleTimeWindow), Target: target(c.Target, c.Target.Input),
			ActionAfterCompletion: types.ActionAfterCompletion(c.ActionAfterCompletion), State: types.ScheduleState(c.State),
			StartDate: instant(c.StartDate), EndDate: instant(c.EndDate), CreationDate: &c.Created, LastModificationDate: &c.Modified,
			Description: text(c.Description), KmsKeyArn: text(c.KmsKeyArn),
		}, nil
	})
}

// DeleteSchedule takes a schedule away. Faults: ResourceNotFoundException.
func (s *Scheduler) DeleteSchedule(ctx context.Context, in *scheduler.DeleteScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.DeleteScheduleOutput, error) {
	return scheduleCall(ctx, s, "DeleteSchedule", in.Name, func() (*scheduler.DeleteScheduleOutput, error) {
		one, err := s.all.Find(aws.ToString(in.GroupName), aws.ToString(in.Name))
		if err != nil {
			return nil, modeled(err)
		}
		s.all.Remove(one.ID())
		return &scheduler.DeleteScheduleOutput{}, nil
	})
}

// ListSchedules lists by group and prefix, in order of names, MaxResults (100) at a time.
func (s *Scheduler) ListSchedules(ctx context.Context, in *scheduler.ListSchedulesInput, _ ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error) {
	return scheduleCall(ctx, s, "ListSchedules", in.NamePrefix, func() (*scheduler.ListSchedulesOutput, error) {
		out := &scheduler.ListSchedulesOutput{}
		limit := int(cmp.Or(aws.ToInt32(in.MaxResults), 100))
		for _, one := range s.all.In(aws.ToString(in.GroupName), aws.ToString(in.NamePrefix)) {
			if one.ID() <= aws.ToString(in.NextToken) {
				continue
			}
			if len(out.Schedules) == limit {
				last := out.Schedules[limit-1]
				out.NextToken = aws.String(*last.GroupName + "/" + *last.Name)
				return out, nil
			}
			out.Schedules = append(out.Schedules, types.ScheduleSummary{
				Name: aws.String(one.Name), GroupName: aws.String(one.GroupName), Arn: arn(one), State: types.ScheduleState(one.State), Target: &types.TargetSummary{Arn: aws.String(one.Target.Arn)},
			})
		}
		return out, nil
	})
}

// Names lists the schedules that exist, as group/name. It is no call.
func (s *Scheduler) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, one := range s.all.All() {
		names = append(names, one.ID())
	}
	return names
}

// table is the schedules, with the groups that exist now.
func (s *Scheduler) table() *timetable.Table {
	s.all.HasGroup = func(name string) bool {
		return s.Groups == nil || name == timetable.DefaultGroup || slices.Contains(s.Groups, name)
	}
	return &s.all
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
