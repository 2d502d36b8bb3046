// recover is the sweep, every minute: what is owed and late is sent again.
package main

import (
	"context"
	"maps"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup)
	sweep := flow.Recover{Edges: edges.Edges, Alarms: later.Events(edges)}
	lambda.Start(func(ctx context.Context) (flow.Found, error) {
		found, err := sweep.Do(ctx, struct{}{})
		counts := maps.Clone(found)
		counts["late"] = found.Late()
		entry.Metrics(os.Stdout, edges.Now(), lambdacontext.FunctionName, counts)
		return found, err
	})
}
