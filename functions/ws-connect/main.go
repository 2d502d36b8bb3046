// ws-connect records a connection that the authorizer let in.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	lambda.Start(entry.Connected(edges.Log, edges.Table.PutConnection))
}
