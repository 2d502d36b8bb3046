package scheduler

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/internal/awstime"
)

// Limits of EventBridge Scheduler.
const (
	maxInput   = 256 << 10
	startGrace = 5 * time.Minute // how far past a StartDate may be
)

// Definition is a schedule as the API has it.
type Definition struct {
	Name                       string
	GroupName                  string
	ScheduleExpression         string
	ScheduleExpressionTimezone string
	Target                     *Target
	FlexibleTimeWindow         *Window
	State                      string
	ActionAfterCompletion      string
	Description                string `json:",omitempty"`
	StartDate                  *Epoch `json:",omitempty"`
	EndDate                    *Epoch `json:",omitempty"`
	KmsKeyArn                  string `json:",omitempty"`
	ClientToken                string `json:",omitempty"`

	Created, Modified time.Time
}

// Target is what a schedule sends, and where to.
type Target struct {
	Arn, RoleArn          string
	Input                 string                 `json:",omitempty"`
	EventBridgeParameters *EventBridgeParameters `json:",omitempty"`
	DeadLetterConfig      *DeadLetterConfig      `json:",omitempty"`
	RetryPolicy           *RetryPolicy           `json:",omitempty"`
}

// EventBridgeParameters turn the input into an event on a bus.
type EventBridgeParameters struct{ DetailType, Source string }

// DeadLetterConfig names the queue for what could not be delivered.
type DeadLetterConfig struct {
	Arn string `json:",omitempty"`
}

// RetryPolicy limits deliveries: up to 185 retries within 60 to 86,400 seconds, which are the defaults.
type RetryPolicy struct {
	MaximumEventAgeInSeconds, MaximumRetryAttempts *int
}

// Window is the flexible time window.
type Window struct {
	Mode                   string
	MaximumWindowInMinutes *int `json:",omitempty"`
}

// Epoch is an instant as the API writes it: seconds since 1970.
type Epoch float64

// Time is the instant.
func (e Epoch) Time() time.Time { return time.UnixMilli(int64(e * 1000)).UTC() }

func epoch(t time.Time) Epoch { return Epoch(float64(t.UnixMilli()) / 1000) }

func (d Definition) compile() (*schedule, error) {
	zone := d.ScheduleExpressionTimezone
	if zone == "" {
		zone = "UTC"
	}
	location, err := awstime.Zone(zone)
	if err != nil {
		return nil, err
	}
	d.ScheduleExpressionTimezone = zone
	e, err := awstime.Parse(d.ScheduleExpression, location)
	if err != nil {
		return nil, fmt.Errorf("invalid ScheduleExpression %w", err)
	}
	return &schedule{Definition: d, expression: e}, nil
}

// withDefaults fills what the caller left out.
func (d Definition) withDefaults() Definition {
	for _, f := range []struct {
		field *string
		value string
	}{{&d.GroupName, defaultGroup}, {&d.State, "ENABLED"}, {&d.ActionAfterCompletion, "NONE"}, {&d.ScheduleExpressionTimezone, "UTC"}} {
		if *f.field == "" {
			*f.field = f.value
		}
	}
	return d
}

// check refuses a definition that AWS refuses, with the words of a ValidationException.
func (d Definition) check(now time.Time) (*schedule, error) {
	for _, f := range []struct{ field, value, pattern string }{
		{"Name", d.Name, `^[0-9a-zA-Z-_.]{1,64}$`},
		{"GroupName", d.GroupName, `^[0-9a-zA-Z-_.]{1,64}$`},
		{"ClientToken", d.ClientToken, `^[a-zA-Z0-9-_]{0,64}$`},
		{"State", d.State, `^(ENABLED|DISABLED)$`},
		{"ActionAfterCompletion", d.ActionAfterCompletion, `^(NONE|DELETE)$`},
		{"KmsKeyArn", d.KmsKeyArn, `^$`},
	} {
		if !regexp.MustCompile(f.pattern).MatchString(f.value) {
			return nil, constraint(f.field, f.value, "Member must satisfy regular expression pattern: "+f.pattern)
		}
	}
	if utf8.RuneCountInString(d.Description) > 512 {
		return nil, constraint("Description", "", "Member must have length less than or equal to 512")
	}
	if err := d.FlexibleTimeWindow.check(); err != nil {
		return nil, err
	}
	if err := d.Target.check(); err != nil {
		return nil, err
	}
	d.Created = now // what a rate counts from
	one, err := d.compile()
	if err != nil {
		return nil, invalid("%v", err)
	}
	return one, one.checkTimes(now)
}

func (s *schedule) checkTimes(now time.Time) error {
	if s.expression.Once() {
		if !s.expression.At().After(now) {
			return invalid("Invalid Schedule Expression %s. The time is in the past.", s.ScheduleExpression)
		}
		return nil
	}
	if s.StartDate != nil && s.StartDate.Time().Before(now.Add(-startGrace)) {
		return invalid("The StartDate you specify cannot be earlier than 5 minutes ago.")
	}
	if s.EndDate != nil && (!s.EndDate.Time().After(now) || (s.StartDate != nil && *s.EndDate <= *s.StartDate)) {
		return invalid("The EndDate you specify must be in the future, and after the StartDate.")
	}
	if s.ActionAfterCompletion == "DELETE" && s.EndDate == nil {
		return invalid("ActionAfterCompletion DELETE needs an EndDate for a recurring schedule.")
	}
	if s.advance(now); s.next.IsZero() {
		return invalid("Invalid Schedule Expression %s. It never runs.", s.ScheduleExpression)
	}
	return nil
}

func (w *Window) check() error {
	switch {
	case w == nil:
		return constraint("FlexibleTimeWindow", "null", "Member must not be null")
	case w.Mode == "OFF" && w.MaximumWindowInMinutes != nil:
		return invalid("MaximumWindowInMinutes must not be provided when the mode is OFF.")
	case w.Mode == "OFF":
		return nil
	case w.Mode != "FLEXIBLE":
		return constraint("FlexibleTimeWindow.Mode", w.Mode, "Member must satisfy enum value set: [OFF, FLEXIBLE]")
	case w.MaximumWindowInMinutes == nil || *w.MaximumWindowInMinutes < 1 || *w.MaximumWindowInMinutes > 1440:
		return constraint("FlexibleTimeWindow.MaximumWindowInMinutes", "", "Member must be between 1 and 1440")
	}
	return nil
}

func (t *Target) check() error {
	role := regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$`)
	switch {
	case t == nil:
		return constraint("Target", "null", "Member must not be null")
	case t.function() == "" && t.bus() == "":
		return invalid("Provided Arn %q is not in correct format, or no target that the local scheduler offers: a function's, or a bus's.", t.Arn)
	case !role.MatchString(t.RoleArn):
		return constraint("Target.RoleArn", t.RoleArn, "Member must be the ARN of a role")
	case len(t.Input) > maxInput:
		return invalid("Input must have at most %d bytes.", maxInput)
	case t.DeadLetterConfig != nil && !strings.HasPrefix(t.DeadLetterConfig.Arn, "arn:aws:sqs:"):
		return constraint("Target.DeadLetterConfig.Arn", t.DeadLetterConfig.Arn, "Member must be the ARN of a queue")
	}
	if err := t.RetryPolicy.check(); err != nil {
		return err
	}
	return t.checkEvent()
}

func (t *Target) checkEvent() error {
	p := t.EventBridgeParameters
	if t.bus() == "" {
		if p != nil {
			return invalid("EventBridgeParameters do not fit the target %s.", t.Arn)
		}
		return nil
	}
	switch {
	case p == nil:
		return invalid("EventBridgeParameters must be provided for the target %s.", t.Arn)
	case p.DetailType == "" || utf8.RuneCountInString(p.DetailType) > 128:
		return constraint("Target.EventBridgeParameters.DetailType", p.DetailType, "Member must have length between 1 and 128")
	case p.Source == "" || len(p.Source) > 256 || strings.HasPrefix(p.Source, "aws."):
		return constraint("Target.EventBridgeParameters.Source", p.Source, "Member must have length between 1 and 256 and not begin with aws.")
	case !strings.HasPrefix(strings.TrimSpace(t.Input), "{") || !json.Valid([]byte(t.Input)):
		return invalid("Input must be a valid JSON object for the target %s.", t.Arn)
	}
	return nil
}

func (r *RetryPolicy) check() error {
	if r == nil {
		return nil
	}
	if n := r.MaximumRetryAttempts; n != nil && (*n < 0 || *n > 185) {
		return constraint("Target.RetryPolicy.MaximumRetryAttempts", fmt.Sprint(*n), "Member must be between 0 and 185")
	}
	if n := r.MaximumEventAgeInSeconds; n != nil && (*n < 60 || *n > 86400) {
		return constraint("Target.RetryPolicy.MaximumEventAgeInSeconds", fmt.Sprint(*n), "Member must be between 60 and 86400")
	}
	return nil
}

// function is the name in a function's ARN, without a version.
func (t *Target) function() string { return resource(t.Arn, ":lambda:", ":function:") }

// bus is the name in a bus's ARN.
func (t *Target) bus() string { return resource(t.Arn, ":events:", ":event-bus/") }

func resource(arn, service, kind string) string {
	_, rest, ok := strings.Cut(arn, kind)
	if !ok || !strings.HasPrefix(arn, "arn:aws") || !strings.Contains(arn, service) {
		return ""
	}
	name, _, _ := strings.Cut(rest, ":")
	return name
}
