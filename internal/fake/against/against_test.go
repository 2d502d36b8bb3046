// Package against holds the fake table to another DynamoDB: the local cloud's, reached over the wire with the SDK's own
// client. Both get the same random calls and must answer alike. It has tests only.
package against_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// api is what both tables are asked by.
type api interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

const tableName = "against-fake"

func other(t *testing.T) api {
	front, err := dynamo.Open(dynamo.Config{Tables: []sam.Table{usual()}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(front)
	t.Cleanup(func() {
		server.Close()
		if err := front.Close(); err != nil {
			t.Error(err)
		}
	})
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		RetryMaxAttempts: 1, HTTPClient: boot.Steady(awshttp.NewBuildableClient()),
	})
}

func usual() sam.Table {
	return sam.Table{Name: tableName, HashKey: "pk", SortKey: "sk", TTLAttribute: "expiresAt",
		Indexes: []sam.Index{{Name: "due", HashKey: "duePk", SortKey: "dueSk", KeysOnly: true}}}
}

func s(text string) attr.Value { return &types.AttributeValueMemberS{Value: text} }
func n(text string) attr.Value { return &types.AttributeValueMemberN{Value: text} }

// answer writes what a call gave in a form that both tables share: the output, or the code of the error and the rows it shows.
func answer(items []attr.Item, more string, err error) string {
	var failed *types.ConditionalCheckFailedException
	var cancelled *types.TransactionCanceledException
	var api smithy.APIError
	switch {
	case errors.As(err, &failed):
		return "condition failed " + text(failed.Item)
	case errors.As(err, &cancelled):
		var reasons []string
		for _, r := range cancelled.CancellationReasons {
			reasons = append(reasons, aws.ToString(r.Code)+" "+text(r.Item))
		}
		return "cancelled: " + strings.Join(reasons, "; ")
	case errors.As(err, &api):
		return api.ErrorCode()
	case err != nil:
		return "error " + err.Error()
	}
	var lines []string
	for _, item := range items {
		lines = append(lines, text(item))
	}
	return strings.Join(append(lines, more), "\n")
}

func text(item attr.Item) string {
	if len(item) == 0 {
		return "none"
	}
	kept, err := attr.StoredItem(item)
	if err != nil {
		return err.Error()
	}
	return attr.Text(&types.AttributeValueMemberM{Value: kept})
}

func TestBothTablesAnswerAlike(t *testing.T) {
	theirs := other(t)
	tally := map[string]int{}
	for seed := range uint64(40) {
		ours := fake.NewDynamo(tableName)
		d := dice{rand.New(rand.NewPCG(1, seed)), fmt.Sprint("p", seed)}
		for i := range 100 {
			c := d.call()
			got, want := c.make(t.Context(), ours), c.make(t.Context(), theirs)
			tally[kindOf(got)]++
			if got != want {
				t.Errorf("seed %d, call %d: %s\nfake:  %s\nother: %s", seed, i, c.what, got, want)
				break // from here on the rows differ
			}
		}
	}
	for _, kind := range []string{"ok", "ValidationException", "condition", "cancelled:"} {
		if tally[kind] < 50 {
			t.Errorf("the calls are too much alike: %v", tally)
		}
	}
}

func kindOf(answer string) string {
	kind, _, _ := strings.Cut(answer, " ")
	if kind == "ValidationException" || kind == "condition" || kind == "cancelled:" {
		return kind
	}
	return "ok"
}
