// stop-session ends the turn of a session, and what waits with it if asked.
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
	stop := flow.Stop{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, decode, stop.Do, entry.Always[flow.StopOut](http.StatusAccepted)))
}

func decode(r entry.Request) (flow.StopIn, error) {
	of, err := entry.Session(r)
	if err != nil {
		return flow.StopIn{}, err
	}
	var body contract.StopSession
	err = r.Body(&body)
	return flow.StopIn{SessionID: of.SessionID, Caller: of.Caller, Clear: body.Clear}, err
}
