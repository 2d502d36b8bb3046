// agency-task runs the tasks of persistent agents: it claims each once, runs its handler, observes, and tells how it ended.
package main

import (
	"cmp"
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/money"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	hosted := boot.Must(edges.Log, func() (agency.Hosted, error) {
		d := agent.Deployment{Table: edges.Table, Bus: edges.Bus, Model: host.Model(edges), Log: edges.Log}
		return agent.Persistent(d.Metered(cmp.Or(edges.ModelID, bedrock.DefaultModelID), money.Default()))
	})
	lambda.Start(entry.Raw(edges.Log, edges.Table, func(ctx context.Context, e contract.RawEvent) (contract.TaskResult, error) {
		r, err := hosted.HandleTask(ctx, e)
		if err == nil {
			entry.Metrics(os.Stdout, edges.Now(), "agency-task", agency.CountsOf(r))
		}
		return r.Wire(), err
	}))
}
