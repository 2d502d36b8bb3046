// agency-task runs the tasks of persistent agents: it claims each once, runs its handler, observes, and tells how it ended.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	hosted := boot.Must(edges.Log, func() (agency.Hosted, error) {
		d := agent.Deployment{Table: edges.Table, Bus: edges.Bus, Model: host.Model(edges), Log: edges.Log}
		content := agent.Content()
		if err := content.Validate(); err != nil {
			return agency.Hosted{}, err
		}
		return agent.Persistent(d.Metered(content.Metered(edges, host.Model(edges))))
	})
	lambda.Start(entry.Raw(edges.Log, edges.Table, func(ctx context.Context, e contract.RawEvent) (contract.TaskResult, error) {
		r, err := hosted.HandleTask(ctx, e)
		if err == nil {
			entry.Metrics(os.Stdout, edges.Now(), lambdacontext.FunctionName, agency.CountsOf(r))
		}
		return r.Wire(), err
	}))
}
