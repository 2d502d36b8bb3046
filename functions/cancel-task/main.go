// cancel-task ends a task for good, together with the turn that runs it.
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
	use := flow.CancelTask{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, entry.Task, entry.Wire(use.Do), entry.Always[contract.TaskResult](http.StatusAccepted)))
}
