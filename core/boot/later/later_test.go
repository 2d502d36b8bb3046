package later_test

import (
	"testing"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
)

func TestBusARN(t *testing.T) {
	tests := []struct{ role, region, name, want string }{
		{"arn:aws:iam::123456789012:role/app-SchedulerRole-1", "eu-west-1", "default", "arn:aws:events:eu-west-1:123456789012:event-bus/default"},
		{"arn:aws-cn:iam::123456789012:role/path/r", "cn-north-1", "apps", "arn:aws-cn:events:cn-north-1:123456789012:event-bus/apps"},
	}
	for _, tc := range tests {
		if got := later.BusARN(tc.role, tc.region, tc.name); got != tc.want {
			t.Errorf("BusARN(%s) = %s, want %s", tc.role, got, tc.want)
		}
	}
}

func TestEvents(t *testing.T) {
	e := boot.Edges{Env: boot.Env{
		Region: "eu-west-1", EventBusName: "apps", ScheduleGroup: "g", SchedulerRoleARN: "arn:aws:iam::123456789012:role/r", ScheduleDeadLetters: "arn:aws:sqs:q",
	}}
	l := later.Events(e)
	if l.Group != "g" || l.RoleARN != e.SchedulerRoleARN || l.BusARN != "arn:aws:events:eu-west-1:123456789012:event-bus/apps" || l.DeadLetter != "arn:aws:sqs:q" || l.Scheduler == nil {
		t.Errorf("Events = %+v", l)
	}
}
