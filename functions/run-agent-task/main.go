// run-agent-task takes a delivery of "Run Agent Task" and binds the task to a session. run-turn runs it.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	bind := flow.BindTask{Edges: edges.Edges, MaxDepth: edges.MaxTaskDepth, MCPHosts: edges.MCPAllowedHosts}
	lambda.Start(entry.Event(edges.Log, edges.Table, func(ctx context.Context, detail task.Request, envelopeID string) error {
		_, err := bind.Do(ctx, flow.BindTaskIn{Request: detail, EnvelopeID: envelopeID})
		return err
	}))
}
