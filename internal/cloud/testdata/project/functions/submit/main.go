// Command submit takes a note over HTTP and puts it on the bus.
package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"example.com/project/account"
)

func main() {
	cfg := account.Config()
	bus := eventbridge.NewFromConfig(cfg)
	lambda.Start(func(ctx context.Context, r events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		entry := types.PutEventsRequestEntry{
			Source: aws.String("notes"), DetailType: aws.String("Submitted"), Detail: aws.String(r.Body),
		}
		out, err := bus.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{entry}})
		if err != nil || out.FailedEntryCount > 0 {
			return events.APIGatewayV2HTTPResponse{}, fmt.Errorf("put: %v %v", out, err)
		}
		sub := r.RequestContext.Authorizer.JWT.Claims["sub"]
		return events.APIGatewayV2HTTPResponse{StatusCode: 202, Body: sub}, nil
	})
}
