package fake

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/steadfast-agents/steadfast/internal/awstime"
)

// check is everything the service checks before it takes a schedule.
func (s *Scheduler) check(in scheduler.CreateScheduleInput) (*schedule, error) {
	in.GroupName = aws.String(groupOf(in.GroupName))
	name := regexp.MustCompile(`^[0-9a-zA-Z\-_.]{1,64}$`)
	switch {
	case !name.MatchString(aws.ToString(in.Name)):
		return nil, invalidSchedule("Value %q at 'name' failed to satisfy constraint: Member must match [0-9a-zA-Z-_.]+ and have length 1 to 64", aws.ToString(in.Name))
	case !name.MatchString(*in.GroupName):
		return nil, invalidSchedule("Value %q at 'groupName' failed to satisfy constraint", *in.GroupName)
	case in.ClientToken != nil && !regexp.MustCompile(`^[a-zA-Z0-9\-_]{1,64}$`).MatchString(*in.ClientToken):
		return nil, invalidSchedule("Value %q at 'clientToken' failed to satisfy constraint", *in.ClientToken)
	case len(aws.ToString(in.Description)) > 512:
		return nil, invalidSchedule("Description is over 512 characters")
	case s.Groups != nil && *in.GroupName != "default" && !slices.Contains(s.Groups, *in.GroupName):
		return nil, &types.ResourceNotFoundException{Message: aws.String("Schedule group " + *in.GroupName + " does not exist.")}
	}
	if err := checkTarget(in.Target); err != nil {
		return nil, err
	}
	if err := checkWindow(in.FlexibleTimeWindow); err != nil {
		return nil, err
	}
	if in.State == "" {
		in.State = types.ScheduleStateEnabled
	}
	zone, err := awstime.Zone(aws.ToString(in.ScheduleExpressionTimezone))
	if err != nil {
		return nil, invalidSchedule("%s", err)
	}
	e, err := awstime.Parse(aws.ToString(in.ScheduleExpression), zone)
	if err != nil {
		return nil, invalidSchedule("%s", err)
	}
	one := &schedule{in: in, expression: e, made: s.now(), last: s.now()}
	return one, s.checkTimes(one)
}

func (s *Scheduler) checkTimes(one *schedule) error {
	in := one.in
	switch {
	case one.expression.Once() && one.next().IsZero():
		return invalidSchedule("The schedule expression %s is in the past", *in.ScheduleExpression)
	case in.StartDate != nil && in.StartDate.Before(s.now().Add(-5*time.Minute)):
		return invalidSchedule("StartDate is in the past")
	case in.StartDate != nil && in.EndDate != nil && !in.EndDate.After(*in.StartDate):
		return invalidSchedule("EndDate must be after StartDate")
	case in.State != types.ScheduleStateDisabled && !one.expression.Once() && one.next().IsZero():
		return invalidSchedule("The schedule expression %s never runs", *in.ScheduleExpression)
	case in.ActionAfterCompletion == types.ActionAfterCompletionDelete && !one.expression.Once() && in.EndDate == nil:
		return invalidSchedule("ActionAfterCompletion DELETE of a recurring schedule needs an EndDate")
	}
	return nil
}

func invalidSchedule(format string, args ...any) error {
	return &types.ValidationException{Message: aws.String(fmt.Sprintf(format, args...))}
}

func checkTarget(t *types.Target) error {
	switch {
	case t == nil || aws.ToString(t.Arn) == "" || aws.ToString(t.RoleArn) == "":
		return invalidSchedule("Target needs Arn and RoleArn")
	case !strings.HasPrefix(*t.Arn, "arn:"):
		return invalidSchedule("Target.Arn %q is not an ARN", *t.Arn)
	case len(aws.ToString(t.Input)) > MaxScheduleInput:
		return invalidSchedule("Target.Input is over %d bytes", MaxScheduleInput)
	case t.Input != nil && *t.Input == "":
		return invalidSchedule("Target.Input must have length greater than or equal to 1")
	}
	if p := t.EventBridgeParameters; p != nil {
		source, kind := aws.ToString(p.Source), aws.ToString(p.DetailType)
		if source == "" || len(source) > 256 || strings.HasPrefix(source, "aws.") || kind == "" || len([]rune(kind)) > 128 {
			return invalidSchedule("EventBridgeParameters needs a Source (at most 256, not aws.) and a DetailType (at most 128)")
		}
		if !json.Valid([]byte(aws.ToString(t.Input))) {
			return invalidSchedule("Target.Input must be JSON for an event bus")
		}
	}
	return nil
}

func checkWindow(w *types.FlexibleTimeWindow) error {
	if w == nil || w.Mode != types.FlexibleTimeWindowModeOff && w.Mode != types.FlexibleTimeWindowModeFlexible {
		return invalidSchedule("FlexibleTimeWindow needs Mode OFF or FLEXIBLE")
	}
	minutes := aws.ToInt32(w.MaximumWindowInMinutes)
	flexible, fits := w.Mode == types.FlexibleTimeWindowModeFlexible, minutes >= 1 && minutes <= 1440
	if flexible && !fits || !flexible && w.MaximumWindowInMinutes != nil {
		return invalidSchedule("MaximumWindowInMinutes is 1 to 1440 with Mode FLEXIBLE and absent with OFF")
	}
	return nil
}
