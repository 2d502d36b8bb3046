// create-session makes a session for the verified caller.
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
	create := flow.CreateSession{Edges: edges.Edges, MCPHosts: edges.MCPAllowedHosts}
	lambda.Start(entry.HTTP(edges.Log, decode, create.Do, entry.Always[flow.CreateSessionOut](http.StatusCreated)))
}

func decode(r entry.Request) (in flow.CreateSessionIn, err error) {
	caller, err := r.Caller()
	if err != nil {
		return in, err
	}
	var body contract.CreateSession
	if err := r.Body(&body); err != nil {
		return in, err
	}
	body.SessionID, body.UserID = "", caller.ID // ids are made here, the owner is who asks
	return flow.CreateSessionIn{Config: flow.Config(body), CreatedBy: r.RequestContext.RequestID}, nil
}
