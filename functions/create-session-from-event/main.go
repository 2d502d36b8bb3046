// create-session-from-event makes a session that a first-party app asked for over the bus.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	create := flow.CreateSession{Edges: edges.Edges, MCPHosts: edges.MCPAllowedHosts}
	lambda.Start(entry.Event(edges.Log, edges.Table, func(ctx context.Context, detail contract.CreateSession, envelopeID string) error {
		_, err := create.Do(ctx, flow.CreateSessionIn{Config: flow.Config(detail), CreatedBy: envelopeID})
		if fault.Is(err, fault.Conflict) { // create-only: the session that is there stays as it is
			edges.Log.WarnContext(ctx, "the session exists already", "session", detail.SessionID)
			return nil
		}
		return err
	}))
}
