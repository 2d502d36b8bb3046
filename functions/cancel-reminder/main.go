// cancel-reminder cancels one reminder of one of the caller's conversations, or all that are active, or all for a purpose.
package main

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup)
	use := flow.Reminders{Edges: edges.Edges, Alarms: later.Events(edges)}
	lambda.Start(entry.HTTP(edges.Log, entry.Reminders, func(ctx context.Context, in flow.RemindersOf) (answer, error) {
		out, err := use.Cancel(ctx, in)
		return answer{out, in.ReminderID != ""}, err
	}, answer.status))
}

// answer says how many were cancelled, unless it was asked for one.
type answer struct {
	flow.CancelledReminders
	one bool
}

func (a answer) status() int {
	if a.one {
		return http.StatusNoContent
	}
	return http.StatusOK
}
