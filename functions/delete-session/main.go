// delete-session deletes one of the caller's sessions and everything under it.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup)
	use := flow.DeleteSession{Edges: edges.Edges, Alarms: later.Events(edges)}
	lambda.Start(entry.HTTP(edges.Log, entry.Session, use.Do, entry.Always[struct{}](http.StatusNoContent)))
}
