// create-reminder makes a reminder in one of the caller's conversations.
package main

import (
	"net/http"
	_ "time/tzdata" // wall times are in any zone

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent/schedules"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	use := flow.Reminders{Edges: edges.Edges, Known: boot.Must(edges.Log, schedules.Reminders)}
	if edges.SchedulesEnabled {
		use.Alarms = later.Events(edges)
	}
	lambda.Start(entry.HTTP(edges.Log, decode, use.Create, entry.Always[contract.Reminder](http.StatusCreated)))
}

func decode(r entry.Request) (in flow.RemindIn, err error) {
	of, err := entry.Session(r)
	if err != nil {
		return in, err
	}
	var body contract.RemindRequest
	err = r.Body(&body)
	return flow.RemindIn{SessionID: of.SessionID, Caller: of.Caller, Reminder: body.NewReminder, Key: body.Key}, err
}
