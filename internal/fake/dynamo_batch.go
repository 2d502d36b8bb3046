package fake

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// BatchGetItem reads up to 100 rows; what BatchMax does not allow is in UnprocessedKeys. Rows that do not exist are left out.
func (d *Dynamo) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return call(ctx, d, "BatchGetItem", "", func() (*dynamodb.BatchGetItemOutput, error) {
		if err := batchSize(in.RequestItems, func(k types.KeysAndAttributes) int { return len(k.Keys) }, MaxBatchGet); err != nil {
			return nil, err
		}
		out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}, UnprocessedKeys: map[string]types.KeysAndAttributes{}}
		left := d.allowance()
		for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
			if err := d.batchGet(name, in.RequestItems[name], out, &left); err != nil {
				return nil, err
			}
		}
		out.ConsumedCapacity = d.consumedAll(in.ReturnConsumedCapacity)
		return out, nil
	})
}

// allowance is how many requests a batch call does.
func (d *Dynamo) allowance() int {
	if d.BatchMax > 0 {
		return d.BatchMax
	}
	return MaxBatchGet
}

func batchSize[T any](requests map[string]T, count func(T) int, limit int) error {
	sum := 0
	for _, r := range requests {
		if count(r) == 0 {
			return attr.Refuse("The batch of a table must have length greater than or equal to 1")
		}
		sum += count(r)
	}
	if sum == 0 || sum > limit {
		return attr.Refuse("Too many items requested for the batch call: %d, at most %d and at least 1", sum, limit)
	}
	return nil
}

func (d *Dynamo) batchGet(name string, ask types.KeysAndAttributes, out *dynamodb.BatchGetItemOutput, left *int) error {
	if err := unsupported(ask.AttributesToGet != nil); err != nil {
		return err
	}
	seen := map[string]bool{}
	rest := ask
	rest.Keys = nil
	for _, key := range ask.Keys {
		g, err := d.get(&name, key, ask.ProjectionExpression, ask.ExpressionAttributeNames)
		if err != nil {
			return err
		}
		if seen[g.id()] {
			return attr.Refuse("Provided list of item keys contains duplicates")
		}
		seen[g.id()] = true
		if *left == 0 {
			rest.Keys = append(rest.Keys, attr.CloneItem(key))
			continue
		}
		*left--
		row := g.row(d.lag(ask.ConsistentRead))
		d.read(g.table, attr.ItemSize(row), rate(ask.ConsistentRead))
		if row != nil {
			out.Responses[name] = append(out.Responses[name], g.pick(row))
		}
	}
	if rest.Keys != nil {
		out.UnprocessedKeys[name] = rest
	}
	return nil
}

// BatchWriteItem puts and deletes up to 25 rows without conditions; what BatchMax does not allow is in UnprocessedItems.
func (d *Dynamo) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return call(ctx, d, "BatchWriteItem", "", func() (*dynamodb.BatchWriteItemOutput, error) {
		if err := batchSize(in.RequestItems, func(r []types.WriteRequest) int { return len(r) }, MaxBatchWrite); err != nil {
			return nil, err
		}
		out := &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{}}
		left := d.allowance()
		var todo []write
		for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
			writes, err := d.batchWrites(name, in.RequestItems[name])
			if err != nil {
				return nil, err
			}
			now := min(left, len(writes))
			left -= now
			todo = append(todo, writes[:now]...)
			if now < len(writes) {
				out.UnprocessedItems[name] = slices.Clone(in.RequestItems[name][now:])
			}
		}
		for _, w := range todo {
			if _, err := d.apply(w, "", false); err != nil {
				return nil, err
			}
		}
		out.ConsumedCapacity = d.consumedAll(in.ReturnConsumedCapacity)
		return out, nil
	})
}

func (d *Dynamo) batchWrites(name string, requests []types.WriteRequest) ([]write, error) {
	var writes []write
	seen := map[string]bool{}
	for _, r := range requests {
		w, err := d.batchWrite(name, r)
		if err != nil {
			return nil, err
		}
		if id := w.table.keyText(w.key); !seen[id] {
			seen[id] = true
			writes = append(writes, w)
			continue
		}
		return nil, attr.Refuse("Provided list of item keys contains duplicates")
	}
	return writes, nil
}

func (d *Dynamo) batchWrite(name string, r types.WriteRequest) (write, error) {
	switch {
	case r.PutRequest != nil && r.DeleteRequest == nil:
		return d.put(&types.Put{TableName: &name, Item: r.PutRequest.Item})
	case r.DeleteRequest != nil && r.PutRequest == nil:
		return d.remove(&types.Delete{TableName: &name, Key: r.DeleteRequest.Key})
	}
	return write{}, attr.Refuse("Supplied WriteRequest must contain exactly one of PutRequest and DeleteRequest")
}
