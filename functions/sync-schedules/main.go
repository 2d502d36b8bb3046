// sync-schedules makes the schedules of EventBridge Scheduler equal to those of the program, whenever a deployment changes them.
package main

import (
	_ "time/tzdata" // schedules may be in any zone

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent/schedules"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.ScheduleGroup, boot.SchedulerRole)
	sync := flow.SyncSchedules{
		Group: later.Files(edges), Schedules: boot.Must(edges.Log, schedules.Set), Off: !edges.SchedulesEnabled, Log: edges.Log,
	}
	lambda.Start(entry.Resource("schedules", sync.Do))
}
