// list-sessions lists the caller's sessions, newest first.
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
	list := flow.ListSessions{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, decode, list.Do, entry.Always[flow.ListSessionsOut](http.StatusOK)))
}

func decode(r entry.Request) (in flow.ListSessionsIn, err error) {
	if in.Caller, err = r.Caller(); err != nil {
		return in, err
	}
	in.Cursor = r.Query("cursor")
	in.Limit, err = r.Number("limit")
	return in, err
}
