package timetable

import (
	"strings"
	"time"
)

// DefaultGroup always exists.
const DefaultGroup = "default"

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

// At is an instant as the API writes it.
func At(t time.Time) Epoch { return Epoch(float64(t.UnixMilli()) / 1000) }

// Function is the name in a function's ARN, without a version; "" if it is no function's.
func (t *Target) Function() string { return resource(t.Arn, ":lambda:", ":function:") }

// Bus is the name in a bus's ARN; "" if it is no bus's.
func (t *Target) Bus() string { return resource(t.Arn, ":events:", ":event-bus/") }

func resource(arn, service, kind string) string {
	_, rest, ok := strings.Cut(arn, kind)
	if !ok || !strings.HasPrefix(arn, "arn:aws") || !strings.Contains(arn, service) {
		return ""
	}
	name, _, _ := strings.Cut(rest, ":")
	return name
}
