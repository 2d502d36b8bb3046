package fake

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
	"github.com/steadfast-agents/steadfast/internal/fake/expr"
)

// Query reads one page of a partition of the table or of an index. A page ends at Limit rows, PageItems rows or MaxPageBytes, counted
// before the filter; LastEvaluatedKey is set whenever it ended there, also if nothing follows.
func (d *Dynamo) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return call(ctx, d, "Query", aws.ToString(in.IndexName), func() (*dynamodb.QueryOutput, error) {
		q, err := d.query(in)
		if err != nil {
			return nil, err
		}
		rows := q.after(q.table.rows(q.index, q.key.Hash, q.lag))
		return q.page(d, rows), nil
	})
}

// query is one checked query.
type query struct {
	in     *dynamodb.QueryInput
	table  *table
	index  *index
	key    expr.KeyCondition
	filter expr.Condition
	parts  expr.Projection
	start  attr.Item
	lag    int
}

func (d *Dynamo) query(in *dynamodb.QueryInput) (*query, error) {
	if err := unsupported(in.AttributesToGet != nil, in.KeyConditions != nil, in.QueryFilter != nil, in.ConditionalOperator != ""); err != nil {
		return nil, err
	}
	t, err := d.table(in.TableName)
	if err != nil {
		return nil, err
	}
	q := &query{in: in, table: t, index: t.main, lag: d.lag(in.ConsistentRead)}
	if in.IndexName != nil {
		if q.index = t.others[*in.IndexName]; q.index == nil {
			return nil, attr.Refuse("The table does not have the specified index: %s", *in.IndexName)
		}
		if aws.ToBool(in.ConsistentRead) {
			return nil, attr.Refuse("Consistent reads are not supported on global secondary indexes")
		}
		q.lag = max(d.IndexLag, d.StaleRead)
	}
	if err := q.parse(); err != nil {
		return nil, err
	}
	return q, q.check()
}

func (q *query) parse() (err error) {
	in, scope := q.in, &expr.Scope{Names: q.in.ExpressionAttributeNames, Values: q.in.ExpressionAttributeValues}
	if in.KeyConditionExpression == nil {
		return attr.Refuse("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	k := q.index.keys
	if q.key, err = scope.KeyCondition(*in.KeyConditionExpression, k.hash.name, k.sort.name); err != nil {
		return err
	}
	if in.FilterExpression != nil {
		if q.filter, err = scope.Condition("FilterExpression", *in.FilterExpression); err != nil {
			return err
		}
	}
	if in.ProjectionExpression != nil {
		if q.parts, err = scope.Projection(*in.ProjectionExpression); err != nil {
			return err
		}
	}
	return scope.Unused()
}

func (q *query) check() error {
	k := q.index.keys
	if kind := attr.Type(q.key.Hash); kind != k.hash.kind {
		return attr.Refuse("One or more parameter values were invalid: Condition parameter type does not match schema type")
	}
	if n, ok := attr.Len(q.key.Hash); ok && n == 0 {
		return attr.Refuse("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", k.hash.name)
	}
	if !q.key.Fits(k.sort.kind) {
		return attr.Refuse("One or more parameter values were invalid: Condition parameter type does not match schema type")
	}
	for _, name := range q.filter.Attributes() {
		if slices.Contains(k.names(), name) {
			return attr.Refuse("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
		}
	}
	if q.in.Limit != nil && *q.in.Limit < 1 {
		return attr.Refuse("Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *q.in.Limit)
	}
	if err := q.checkSelect(); err != nil {
		return err
	}
	return q.checkStart()
}

// checkSelect refuses attributes that the index does not hold.
func (q *query) checkSelect() error {
	only, chosen := q.index.only, q.in.Select
	switch {
	case chosen == types.SelectSpecificAttributes && q.in.ProjectionExpression == nil:
		return attr.Refuse("SPECIFIC_ATTRIBUTES is specified without a ProjectionExpression")
	case chosen != "" && chosen != types.SelectSpecificAttributes && q.in.ProjectionExpression != nil:
		return attr.Refuse("Cannot specify the ProjectionExpression when choosing to get %s", chosen)
	case chosen == types.SelectAllAttributes && only != nil:
		return attr.Refuse("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %s "+
			"because its projection type is not ALL", q.index.name)
	}
	if only == nil {
		return nil
	}
	for _, name := range append(q.parts.Attributes(), q.filter.Attributes()...) {
		if !slices.Contains(only, name) {
			return attr.Refuse("One or more parameter values were invalid: Global secondary index %s does not project [%s]", q.index.name, name)
		}
	}
	return nil
}

// checkStart takes the key to go on after: the keys of index and table, in the partition and range of the query.
func (q *query) checkStart() (err error) {
	if q.in.ExclusiveStartKey == nil {
		return nil
	}
	if q.start, err = attr.StoredItem(q.in.ExclusiveStartKey); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, name := range append(q.index.keys.names(), q.table.main.keys.names()...) {
		names[name] = true
		if q.start[name] == nil {
			return attr.Refuse("The provided starting key is invalid")
		}
	}
	if len(names) != len(q.start) || !attr.Equal(q.start[q.index.keys.hash.name], q.key.Hash) {
		return attr.Refuse("The provided starting key is invalid")
	}
	if !q.key.Holds(q.start) {
		return attr.Refuse("The provided starting key does not match the range key predicate")
	}
	return nil
}

// after gives the rows in range that follow the start, in the order of the query.
func (q *query) after(rows []attr.Item) []attr.Item {
	forward := q.in.ScanIndexForward == nil || *q.in.ScanIndexForward
	var out []attr.Item
	for _, row := range rows {
		if !q.key.Holds(row) {
			continue
		}
		if q.start != nil {
			if c := q.table.order(q.index, row, q.start); forward && c <= 0 || !forward && c >= 0 {
				continue
			}
		}
		out = append(out, row)
	}
	if !forward {
		slices.Reverse(out)
	}
	return out
}

func (q *query) page(d *Dynamo, rows []attr.Item) *dynamodb.QueryOutput {
	out := &dynamodb.QueryOutput{Items: []map[string]types.AttributeValue{}}
	limit, bytes := q.limit(d), 0
	for _, row := range rows {
		row = q.index.view(row)
		size := attr.ItemSize(row)
		if out.ScannedCount > 0 && bytes+size > MaxPageBytes {
			break
		}
		bytes += size
		out.ScannedCount++
		out.LastEvaluatedKey = attr.CloneItem(q.position(row))
		if q.filter.Holds(row) {
			out.Count++
			out.Items = append(out.Items, q.parts.Of(row))
		}
		if int(out.ScannedCount) == limit {
			break
		}
	}
	if int(out.ScannedCount) == len(rows) && int(out.ScannedCount) != limit {
		out.LastEvaluatedKey = nil
	}
	if q.in.Select == types.SelectCount {
		out.Items = nil
	}
	d.read(q.table, bytes, rate(q.in.ConsistentRead))
	out.ConsumedCapacity = d.consumed(q.in.ReturnConsumedCapacity, q.table)
	return out
}

// limit is how many rows a page may look at; -1 for no limit.
func (q *query) limit(d *Dynamo) int {
	limit := -1
	if q.in.Limit != nil {
		limit = int(*q.in.Limit)
	}
	if d.PageItems > 0 && (limit < 0 || d.PageItems < limit) {
		limit = d.PageItems
	}
	return limit
}

// position is the key of a row in the index and in the table.
func (q *query) position(row attr.Item) attr.Item {
	return keep(row, append(q.index.keys.names(), q.table.main.keys.names()...))
}
