package fake

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
	"github.com/steadfast-agents/steadfast/internal/fake/expr"
)

// GetItem reads one row; Item is nil if there is none.
func (d *Dynamo) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return call(ctx, d, "GetItem", keyNote(in.Key), func() (*dynamodb.GetItemOutput, error) {
		if err := unsupported(in.AttributesToGet != nil); err != nil {
			return nil, err
		}
		g, err := d.get(in.TableName, in.Key, in.ProjectionExpression, in.ExpressionAttributeNames)
		if err != nil {
			return nil, err
		}
		row := g.row(d.lag(in.ConsistentRead))
		d.read(g.table, attr.ItemSize(row), rate(in.ConsistentRead))
		return &dynamodb.GetItemOutput{Item: g.pick(row), ConsumedCapacity: d.consumed(in.ReturnConsumedCapacity, g.table)}, nil
	})
}

// lag is how many changes a read misses.
func (d *Dynamo) lag(consistent *bool) int {
	if aws.ToBool(consistent) {
		return 0
	}
	return d.StaleRead
}

// get is one checked read of a row.
type get struct {
	table *table
	key   attr.Item
	parts expr.Projection
}

func (d *Dynamo) get(table *string, key attr.Item, projection *string, names map[string]string) (get, error) {
	t, err := d.table(table)
	if err != nil {
		return get{}, err
	}
	g := get{table: t}
	scope := expr.Scope{Names: names}
	if projection != nil {
		if g.parts, err = scope.Projection(*projection); err != nil {
			return get{}, err
		}
	}
	if err := scope.Unused(); err != nil {
		return get{}, err
	}
	g.key, err = t.checkKey(key)
	return g, err
}

// row is the row as it was lag changes ago.
func (g get) row(lag int) attr.Item {
	t := g.table
	if lag == 0 {
		return t.row(g.key)
	}
	for _, row := range t.rows(t.main, g.key[t.main.keys.hash.name], lag) {
		if t.order(t.main, row, g.key) == 0 {
			return row
		}
	}
	return nil
}

// id names the row among all tables.
func (g get) id() string { return g.table.name + "|" + g.table.keyText(g.key) }

func (g get) pick(row attr.Item) attr.Item {
	if row == nil {
		return nil
	}
	return g.parts.Of(row)
}

// TransactGetItems reads up to 100 rows at one moment.
func (d *Dynamo) TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	out, err := call(ctx, d, "TransactGetItems", "", func() (*dynamodb.TransactGetItemsOutput, error) {
		gets, err := d.transactGets(in.TransactItems)
		if err != nil {
			return nil, err
		}
		out := &dynamodb.TransactGetItemsOutput{}
		for _, g := range gets {
			row := g.row(0)
			d.read(g.table, attr.ItemSize(row), 2)
			out.Responses = append(out.Responses, types.ItemResponse{Item: g.pick(row)})
		}
		out.ConsumedCapacity = d.consumedAll(in.ReturnConsumedCapacity)
		return out, nil
	})
	return out, transactionError("TransactGetItems", len(in.TransactItems), err)
}

func (d *Dynamo) transactGets(items []types.TransactGetItem) ([]get, error) {
	if len(items) == 0 || len(items) > MaxTransactionItems {
		return nil, wrongNumber()
	}
	var gets []get
	seen := map[string]bool{}
	for _, item := range items {
		if item.Get == nil {
			return nil, attr.Refuse("Value null at 'transactItems.member.get' failed to satisfy constraint: Member must not be null")
		}
		g, err := d.get(item.Get.TableName, item.Get.Key, item.Get.ProjectionExpression, item.Get.ExpressionAttributeNames)
		if err != nil {
			return nil, err
		}
		if seen[g.id()] {
			return nil, attr.Refuse("Transaction request cannot include multiple operations on one item")
		}
		seen[g.id()] = true
		gets = append(gets, g)
	}
	return gets, nil
}
