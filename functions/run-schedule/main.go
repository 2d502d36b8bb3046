// run-schedule takes the firings of the program's schedules: a file's begins a session that run-turn runs, a handler's is run here.
package main

import (
	_ "time/tzdata" // schedules may be in any zone

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/agent/schedules"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	run := flow.RunSchedule{
		Edges: edges.Edges, Schedules: boot.Must(edges.Log, schedules.Set), Tools: agent.Content().Tools, Off: !edges.SchedulesEnabled,
	}
	if edges.SchedulesEnabled {
		run.Alarms = later.Events(edges)
	}
	lambda.Start(entry.Schedule(edges.Log, run.Do))
}
