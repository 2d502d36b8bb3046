// get-session-events reads a page of a session's stream.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	lambda.Start(entry.Events(edges.Log, flow.ReadEvents{Edges: edges.Edges}.Do))
}
