// send-message takes a message into a session, for a caller who holds its current continuation token.
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
	admit := flow.Admit{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, decode, admit.Do, entry.Always[contract.Delivery](http.StatusAccepted)))
}

func decode(r entry.Request) (in flow.AdmitIn, err error) {
	of, err := entry.Session(r)
	if err != nil {
		return in, err
	}
	var body contract.SendMessage
	err = r.Body(&body)
	return flow.AdmitIn{
		SessionID: of.SessionID, Caller: of.Caller, Text: body.Message, Admission: body.Admission, DeliveryID: body.DeliveryID,
		Files: body.Files, Token: &body.ContinuationToken,
	}, err
}
