// Package store is the table: one file per kind of row. Rules live in session and task; here a rule's transition becomes one
// conditional write, a group of writes one transaction, and a refusal comes back with the row that refused it. Every read
// that decides is consistent and compares expiry with now. Nothing over MaxItemBytes is written: a large body lies in parts
// beside its row. The package calls DynamoDB and nothing else.
package store

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// API is what the store needs of DynamoDB's client. It must be safe for concurrent use.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Table is a single table with pk, sk, a TTL on expiresAt and the index "due". It is a plain value, safe for concurrent use.
type Table struct {
	Name     string // default TABLE_NAME, the environment's
	DynamoDB API
	Now      func() time.Time // nil: time.Now
}

func (t Table) name() *string {
	if t.Name == "" {
		t.Name = os.Getenv("TABLE_NAME")
	}
	return &t.Name
}

func (t Table) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}
