// Command keep stores a note from the bus.
package main

import (
	"context"
	"encoding/json"
	"errors"
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
	table := dynamodb.NewFromConfig(cfg)
	lambda.Start(func(ctx context.Context, e events.EventBridgeEvent) error {
		if os.Getenv("FAIL") != "" {
			return errors.New("told to fail")
		}
		var note struct{ ID, Text string }
		if err := json.Unmarshal(e.Detail, &note); err != nil {
			return err
		}
		text := os.Getenv("GREETING") + " " + note.Text
		_, err := table.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(os.Getenv("TABLE_NAME")), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: note.ID}, "sk": &types.AttributeValueMemberS{Value: "NOTE"},
			"text": &types.AttributeValueMemberS{Value: text},
		}})
		return err
	})
}
