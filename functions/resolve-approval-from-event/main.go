// resolve-approval-from-event takes the verdict of a user that a first-party app speaks for, over the bus.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	approvals := flow.Approvals{Edges: edges.Edges}
	lambda.Start(entry.Event(edges.Log, nil, func(ctx context.Context, d contract.ResolveApproval, envelopeID string) error {
		_, err := approvals.Decide(ctx, flow.DecideIn{
			SessionID: d.SessionID, ActionID: d.ActionID, Caller: task.User(d.By), App: true, Verdict: d.Decision, Reason: d.Reason,
		})
		if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) { // too late, and it would be whenever it came again
			edges.Log.WarnContext(ctx, "nothing to decide", "session", d.SessionID, "call", d.ActionID, "event", envelopeID, "why", err)
			return nil
		}
		return err
	}))
}
