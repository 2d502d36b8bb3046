// list-reminders lists the reminders of one of the caller's conversations, the next to fire first.
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
	use := flow.Reminders{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, entry.Reminders, use.List, entry.Always[contract.Reminders](http.StatusOK)))
}
