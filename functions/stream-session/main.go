// stream-session replays a session's stream and follows it, as a function URL that streams its answer.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/identity"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.Issuer, boot.ClientID)
	verifier := &identity.Verifier{Issuer: edges.CognitoIssuer, ClientID: edges.CognitoClientID}
	stream := entry.Stream{Follow: flow.FollowEvents{Edges: edges.Edges}, Verify: verifier.Verify, Log: edges.Log}
	lambda.Start(stream.Handle)
}
