// agency-check-in is what a schedule of check-ins calls: it publishes the check-in of one agent type, which agency-route takes.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/boot"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	hosted := boot.Must(edges.Log, func() (agency.Hosted, error) {
		return agent.Persistent(agent.Deployment{Table: edges.Table, Bus: edges.Bus, Log: edges.Log})
	})
	lambda.Start(func(ctx context.Context, c agency.CheckInCall) error {
		err := hosted.EmitCheckIn(ctx, c)
		if err != nil {
			edges.Log.ErrorContext(ctx, "check-in failed", "type", c.AgentType, "error", err)
		}
		return err
	})
}
