// schedule-event puts events on the bus later: it takes "Schedule Event" and "Cancel Scheduled Event" from any app.
package main

import (
	"context"
	_ "time/tzdata" // wall times are in any zone

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	events := flow.ScheduleEvent{Edges: edges.Edges, Later: later.Events(edges)}
	lambda.Start(func(ctx context.Context, e contract.RawEvent) error {
		if e.DetailType == contract.CancelScheduledEventType {
			return entry.Asked(edges.Log, events.Cancel)(ctx, e)
		}
		return entry.Asked(edges.Log, events.Do)(ctx, e)
	})
}
