package timetable

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of EventBridge Scheduler.
const (
	MaxInput   = 256 << 10
	startGrace = 5 * time.Minute // how far past a StartDate may be
)

// What fields must look like.
var (
	name   = regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`)
	token  = regexp.MustCompile(`^[a-zA-Z0-9-_]{0,64}$`)
	state  = regexp.MustCompile(`^(ENABLED|DISABLED)$`)
	action = regexp.MustCompile(`^(NONE|DELETE)$`)
	none   = regexp.MustCompile(`^$`)
	role   = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$`)
)

// CheckGroup refuses a name that no group can have.
func CheckGroup(group string) error {
	if !name.MatchString(group) {
		return Constraint("Name", group, "Member must satisfy regular expression pattern: "+name.String())
	}
	return nil
}

// withDefaults fills what the caller left out.
func (d Definition) withDefaults() Definition {
	for _, f := range []struct {
		field *string
		value string
	}{{&d.GroupName, DefaultGroup}, {&d.State, "ENABLED"}, {&d.ActionAfterCompletion, "NONE"}, {&d.ScheduleExpressionTimezone, "UTC"}} {
		if *f.field == "" {
			*f.field = f.value
		}
	}
	return d
}

// check refuses a definition that the service refuses. What the caller left out is filled in.
func (d Definition) check(now time.Time) (*Schedule, error) {
	d = d.withDefaults()
	for _, f := range []struct {
		field, value string
		pattern      *regexp.Regexp
	}{
		{"Name", d.Name, name},
		{"GroupName", d.GroupName, name},
		{"ClientToken", d.ClientToken, token},
		{"State", d.State, state},
		{"ActionAfterCompletion", d.ActionAfterCompletion, action},
		{"KmsKeyArn", d.KmsKeyArn, none},
	} {
		if !f.pattern.MatchString(f.value) {
			return nil, Constraint(f.field, f.value, "Member must satisfy regular expression pattern: "+f.pattern.String())
		}
	}
	if utf8.RuneCountInString(d.Description) > 512 {
		return nil, Constraint("Description", "", "Member must have length less than or equal to 512")
	}
	if err := d.FlexibleTimeWindow.check(); err != nil {
		return nil, err
	}
	if err := d.Target.check(); err != nil {
		return nil, err
	}
	d.Created = now // what a rate counts from
	one, err := d.Compile()
	if err != nil {
		return nil, Invalid("%v", err)
	}
	return one, one.checkTimes(now)
}

func (s *Schedule) checkTimes(now time.Time) error {
	if s.expression.Once() {
		if !s.expression.At().After(now) {
			return Invalid("Invalid Schedule Expression %s. The time is in the past.", s.ScheduleExpression)
		}
		return nil
	}
	if s.StartDate != nil && s.StartDate.Time().Before(now.Add(-startGrace)) {
		return Invalid("The StartDate you specify cannot be earlier than 5 minutes ago.")
	}
	if s.EndDate != nil && (!s.EndDate.Time().After(now) || (s.StartDate != nil && *s.EndDate <= *s.StartDate)) {
		return Invalid("The EndDate you specify must be in the future, and after the StartDate.")
	}
	if s.ActionAfterCompletion == "DELETE" && s.EndDate == nil {
		return Invalid("ActionAfterCompletion DELETE needs an EndDate for a recurring schedule.")
	}
	if s.Advance(now); s.Next.IsZero() {
		return Invalid("Invalid Schedule Expression %s. It never runs.", s.ScheduleExpression)
	}
	return nil
}

func (w *Window) check() error {
	switch {
	case w == nil:
		return Constraint("FlexibleTimeWindow", "null", "Member must not be null")
	case w.Mode == "OFF" && w.MaximumWindowInMinutes != nil:
		return Invalid("MaximumWindowInMinutes must not be provided when the mode is OFF.")
	case w.Mode == "OFF":
		return nil
	case w.Mode != "FLEXIBLE":
		return Constraint("FlexibleTimeWindow.Mode", w.Mode, "Member must satisfy enum value set: [OFF, FLEXIBLE]")
	case w.MaximumWindowInMinutes == nil || *w.MaximumWindowInMinutes < 1 || *w.MaximumWindowInMinutes > 1440:
		return Constraint("FlexibleTimeWindow.MaximumWindowInMinutes", "", "Member must be between 1 and 1440")
	}
	return nil
}

func (t *Target) check() error {
	switch {
	case t == nil:
		return Constraint("Target", "null", "Member must not be null")
	case t.Function() == "" && t.Bus() == "":
		return Invalid("Provided Arn %q is not in correct format, or no target that the local scheduler offers: a function's, or a bus's.", t.Arn)
	case !role.MatchString(t.RoleArn):
		return Constraint("Target.RoleArn", t.RoleArn, "Member must be the ARN of a role")
	case len(t.Input) > MaxInput:
		return Invalid("Input must have at most %d bytes.", MaxInput)
	case t.DeadLetterConfig != nil && !strings.HasPrefix(t.DeadLetterConfig.Arn, "arn:aws:sqs:"):
		return Constraint("Target.DeadLetterConfig.Arn", t.DeadLetterConfig.Arn, "Member must be the ARN of a queue")
	}
	if err := t.RetryPolicy.check(); err != nil {
		return err
	}
	return t.checkEvent()
}

func (t *Target) checkEvent() error {
	p := t.EventBridgeParameters
	if t.Bus() == "" {
		if p != nil {
			return Invalid("EventBridgeParameters do not fit the target %s.", t.Arn)
		}
		return nil
	}
	switch {
	case p == nil:
		return Invalid("EventBridgeParameters must be provided for the target %s.", t.Arn)
	case p.DetailType == "" || utf8.RuneCountInString(p.DetailType) > 128:
		return Constraint("Target.EventBridgeParameters.DetailType", p.DetailType, "Member must have length between 1 and 128")
	case p.Source == "" || len(p.Source) > 256 || strings.HasPrefix(p.Source, "aws."):
		return Constraint("Target.EventBridgeParameters.Source", p.Source, "Member must have length between 1 and 256 and not begin with aws.")
	case !strings.HasPrefix(strings.TrimSpace(t.Input), "{") || !json.Valid([]byte(t.Input)):
		return Invalid("Input must be a valid JSON object for the target %s.", t.Arn)
	}
	return nil
}

func (r *RetryPolicy) check() error {
	if r == nil {
		return nil
	}
	if n := r.MaximumRetryAttempts; n != nil && (*n < 0 || *n > 185) {
		return Constraint("Target.RetryPolicy.MaximumRetryAttempts", fmt.Sprint(*n), "Member must be between 0 and 185")
	}
	if n := r.MaximumEventAgeInSeconds; n != nil && (*n < 60 || *n > 86400) {
		return Constraint("Target.RetryPolicy.MaximumEventAgeInSeconds", fmt.Sprint(*n), "Member must be between 60 and 86400")
	}
	return nil
}
