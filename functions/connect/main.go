// connect tells a client where to open its socket and which session to name.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.WebSocket)
	connect := flow.Connect{Edges: edges.Edges, URL: edges.WebSocketURL(), StreamURL: edges.StreamEndpoint}
	lambda.Start(entry.HTTP(edges.Log, decode, connect.Do, entry.Always[flow.ConnectOut](http.StatusOK)))
}

func decode(r entry.Request) (in flow.SessionOf, err error) {
	var body struct {
		SessionID string `json:"sessionId"`
	}
	if in.Caller, err = r.Caller(); err != nil {
		return in, err
	}
	err = r.Body(&body)
	in.SessionID = body.SessionID
	return in, err
}
