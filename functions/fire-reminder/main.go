// fire-reminder fires reminders: it sends a prompt into the conversation, where run-turn answers it, or asks a handler of the program.
package main

import (
	_ "time/tzdata" // reminders may be in any zone

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent/schedules"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	use := flow.FireReminder{
		Reminders: flow.Reminders{Edges: edges.Edges, Alarms: later.Events(edges)}, Handlers: boot.Must(edges.Log, schedules.Reminders), Off: !edges.SchedulesEnabled,
	}
	lambda.Start(entry.Reminder(edges.Log, use))
}
