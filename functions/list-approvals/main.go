// list-approvals gives the calls of a session that people were asked about.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	approvals := flow.Approvals{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, entry.Session, approvals.List, entry.Always[contract.Approvals](http.StatusOK)))
}
