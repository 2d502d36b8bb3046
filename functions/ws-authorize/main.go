// ws-authorize is the $connect authorizer of the WebSocket API.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/identity"
)

func main() {
	env := boot.MustEnv(boot.Issuer, boot.ClientID)
	verifier := &identity.Verifier{Issuer: env.CognitoIssuer, ClientID: env.CognitoClientID}
	lambda.Start(entry.Authorize(boot.Log(), verifier.Verify))
}
