// Command talk sends a WebSocket message back to its sender.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"

	"example.com/project/account"
)

func main() {
	cfg := account.Config()
	sockets := apigatewaymanagementapi.NewFromConfig(cfg, func(o *apigatewaymanagementapi.Options) {
		o.BaseEndpoint = aws.String(os.Getenv("WEBSOCKET_ENDPOINT"))
	})
	lambda.Start(func(ctx context.Context, r events.APIGatewayWebsocketProxyRequest) (events.APIGatewayProxyResponse, error) {
		_, err := sockets.PostToConnection(ctx, &apigatewaymanagementapi.PostToConnectionInput{
			ConnectionId: aws.String(r.RequestContext.ConnectionID), Data: []byte("you said " + r.Body),
		})
		return events.APIGatewayProxyResponse{StatusCode: 200}, err
	})
}
