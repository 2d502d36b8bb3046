// get-task reads a task that the caller may see.
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
	use := flow.GetTask{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, entry.Task, entry.Wire(use.Do), entry.Always[contract.TaskResult](http.StatusOK)))
}
