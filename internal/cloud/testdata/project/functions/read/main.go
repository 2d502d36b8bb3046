// Command read gives a note over HTTP, and tries to delete one, which it may not.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/project/account"
)

func main() {
	cfg := account.Config()
	table, name := dynamodb.NewFromConfig(cfg), aws.String(os.Getenv("TABLE_NAME"))
	lambda.Start(func(ctx context.Context, r events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		key := map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: r.PathParameters["id"]}, "sk": &types.AttributeValueMemberS{Value: "NOTE"},
		}
		if r.RequestContext.HTTP.Method == "DELETE" {
			_, err := table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: key})
			return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: "deleted"}, err
		}
		out, err := table.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: key, ConsistentRead: aws.Bool(true)})
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
		text, ok := out.Item["text"].(*types.AttributeValueMemberS)
		if !ok {
			return events.APIGatewayV2HTTPResponse{StatusCode: 404, Body: "none"}, nil
		}
		return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: text.Value}, nil
	})
}
