// get-session reads one of the caller's sessions.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	use := flow.GetSession{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, entry.Session, use.Do, entry.Always[flow.SessionView](http.StatusOK)))
}
