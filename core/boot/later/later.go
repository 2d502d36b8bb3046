// Package later opens EventBridge Scheduler for the functions that make schedules. Only they link its client; it makes none itself.
package later

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/later"
)

// Client is the client of EventBridge Scheduler.
func Client(e boot.Edges) *scheduler.Client {
	return scheduler.NewFromConfig(boot.Config("SCHEDULER", e.Region))
}

// Events are events that come later, in the environment's group. The function needs boot.ScheduleGroup and boot.SchedulerRole.
func Events(e boot.Edges) later.Events {
	return later.Events{
		Scheduler: Client(e), Bus: e.Bus, Group: e.ScheduleGroup, RoleARN: e.SchedulerRoleARN, BusARN: BusARN(e.SchedulerRoleARN, e.Region, e.EventBusName),
		DeadLetter: e.ScheduleDeadLetters, Now: e.Now,
	}
}

// Files are the schedules of the program, in a group of their own beside the environment's.
func Files(e boot.Edges) later.Group {
	client, events := Client(e), Events(e)
	events.Scheduler, events.Group = client, e.ScheduleGroup+"-files"
	return later.Group{Events: events, Lister: client}
}

// BusARN is the ARN of a bus in the partition and account of a role.
func BusARN(role, region, name string) string {
	partition, account := "aws", ""
	if parts := strings.Split(role, ":"); len(parts) > 4 {
		partition, account = parts[1], parts[4]
	}
	return strings.Join([]string{"arn", partition, "events", region, account, "event-bus/" + name}, ":")
}
