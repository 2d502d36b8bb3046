// ws-disconnect forgets a connection and all it follows.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	lambda.Start(entry.Disconnected(edges.Log, edges.Table.Disconnect))
}
