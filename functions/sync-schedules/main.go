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
	set, wrong := schedules.Set() // the deployment is told of it: were this to end here, it would wait
	sync := flow.SyncSchedules{
		Group: later.Files(edges), Schedules: set, Wrong: wrong, Off: !edges.SchedulesEnabled, Log: edges.Log,
	}
	lambda.Start(entry.Resource("schedules", sync.Do))
}
