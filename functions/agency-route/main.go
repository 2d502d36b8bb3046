// agency-route takes events that wake persistent agents and turns them into tasks, each in its own time.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	hosted := boot.Must(edges.Log, func() (agency.Hosted, error) {
		return agent.Persistent(agent.Deployment{Table: edges.Table, Bus: edges.Bus, Later: later.Events(edges).RunTask, Log: edges.Log})
	})
	lambda.Start(entry.Raw(edges.Log, edges.Table, func(ctx context.Context, e contract.RawEvent) ([]agency.Decision, error) {
		made, err := hosted.Route(ctx, e)
		entry.Metrics(os.Stdout, edges.Now(), lambdacontext.FunctionName, agency.Counts(made))
		return made, err
	}))
}
