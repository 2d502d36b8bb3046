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
	"github.com/steadfast-agents/steadfast/core/schedule"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	content := agent.Content()
	run := flow.RunSchedule{
		Edges: edges.Edges, Schedules: boot.Must(edges.Log, schedules.Set), Tools: content.Tools, Off: !edges.SchedulesEnabled,
		Host: schedule.Host{MCP: content.OwnServers(edges).Call},
	}
	if edges.SchedulesEnabled {
		run.Alarms = later.Events(edges)
	}
	lambda.Start(entry.Schedule(edges.Log, run.Do))
}
