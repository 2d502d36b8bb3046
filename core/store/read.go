package store

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// get reads one row consistently; nil when there is none.
func (t Table) get(ctx context.Context, k key.Key) (item, error) {
	yes := true
	out, err := t.DynamoDB.GetItem(ctx, &dynamodb.GetItemInput{TableName: t.name(), Key: keyItem(k), ConsistentRead: &yes})
	if err != nil {
		return nil, failed(err, "read %s", describe(k))
	}
	return out.Item, nil
}

// getInto reads one row into v; found is false when there is none.
func (t Table) getInto(ctx context.Context, k key.Key, v any) (found bool, err error) {
	row, err := t.get(ctx, k)
	if err != nil || row == nil {
		return false, err
	}
	return true, decode(row, v)
}

// scope names what a query reads.
type scope struct {
	pk       string
	keys     sortKeys // beside pk
	backward bool
	pageSize int32
	start    item
	index    string
	pkName   string
	only     []string // attributes to read; nil: all
}

// query reads all rows of a scope, page by page, until there is no further page: an empty page is not the end.
func (t Table) query(ctx context.Context, s scope) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		for {
			out, err := t.page(ctx, s)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range out.Items {
				if !yield(row, nil) {
					return
				}
			}
			if len(out.LastEvaluatedKey) == 0 {
				return
			}
			s.start = out.LastEvaluatedKey
		}
	}
}

func (t Table) page(ctx context.Context, s scope) (*dynamodb.QueryOutput, error) {
	pkName := s.pkName
	if pkName == "" {
		pkName = key.PK
	}
	var x expressions
	x.of(pkName, s.pk, s.keys)
	projection := x.project(s.only)
	if x.err != nil {
		return nil, fault.Wrap(fault.Internal, x.err, "query %s", s.pk)
	}
	forward, consistent := !s.backward, s.index == ""
	in := &dynamodb.QueryInput{
		TableName: t.name(), KeyConditionExpression: &x.condition, ProjectionExpression: projection, ExpressionAttributeNames: x.names(),
		ExpressionAttributeValues: x.values(), ScanIndexForward: &forward, ConsistentRead: &consistent, ExclusiveStartKey: s.start,
	}
	if s.index != "" {
		in.IndexName = &s.index
	}
	if s.pageSize > 0 {
		in.Limit = &s.pageSize
	}
	out, err := t.DynamoDB.Query(ctx, in)
	if err != nil {
		return nil, failed(err, "query %s", s.pk)
	}
	return out, nil
}
