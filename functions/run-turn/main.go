// run-turn runs the turns of one session under its lease. It is the only function that calls a model.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.WebSocket, boot.ScheduleGroup, boot.SchedulerRole)
	engine := host.MustEngine(edges, agent.Content())
	if edges.SchedulesEnabled {
		engine.Alarms = later.Events(edges)
	}
	lambda.Start(entry.Event(edges.Log, edges.Table, func(ctx context.Context, detail contract.RunTurn, _ string) error {
		return engine.Do(ctx, detail.SessionID)
	}))
}
