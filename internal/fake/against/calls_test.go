package against_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// call is one random call: what it is, and how to make it.
type call struct {
	what string
	make func(ctx context.Context, table api) string
}

// dice draws calls.
type dice struct {
	*rand.Rand
	pk string // the beginning of the partitions of this series
}

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) key() attr.Item {
	return attr.Item{"pk": s(d.pk + pick(d, "x", "y")), "sk": s(pick(d, "A#1", "A#2", "B#1", "B#10", "C"))}
}

func (d dice) value() attr.Value {
	return pick[attr.Value](d, n(pick(d, "1", "2", "9.50", "-3", "9007199254740993", "1e3")), s(pick(d, "", "one", "two", "é")), &types.AttributeValueMemberBOOL{Value: true},
		&types.AttributeValueMemberNULL{Value: true}, &types.AttributeValueMemberSS{Value: pick(d, []string{"a", "b"}, []string{"b", "c"}, []string{"a"})},
		&types.AttributeValueMemberNS{Value: pick(d, []string{"1", "2.0"}, []string{"2"})}, &types.AttributeValueMemberB{Value: []byte("ab")},
		&types.AttributeValueMemberL{Value: []attr.Value{n("1"), s("two"), n("3")}}, &types.AttributeValueMemberL{Value: []attr.Value{}},
		&types.AttributeValueMemberM{Value: attr.Item{"f": n("1"), "g": &types.AttributeValueMemberL{Value: []attr.Value{s("x")}}}})
}

func (d dice) item() attr.Item {
	item := d.key()
	for _, name := range []string{"a", "b", "c", "d"} {
		if d.IntN(3) > 0 {
			item[name] = d.value()
		}
	}
	if d.IntN(3) == 0 {
		item["duePk"], item["dueSk"] = s(d.pk+pick(d, "D1", "D2")), s(pick(d, "1", "2", "3"))
	}
	if d.IntN(40) == 0 {
		item["duePk"] = pick(d, n("1"), s(""))
	}
	return item
}

func (d dice) path() string {
	return pick(d, "a", "b", "c", "d", "a.f", "b.g[0]", "c[1]", "d[0]", "#status", "a.#status", "pk", "gone")
}

func (d dice) simple() string {
	a, b := d.path(), pick(d, d.path(), ":x", ":y")
	if a == b {
		b = ":x" // a path compared with itself is refused, in which forms is not documented
	}
	return pick(d,
		"attribute_exists("+a+")", "attribute_not_exists("+a+")", a+" "+pick(d, "=", "<>", "<", "<=", ">", ">=")+" "+b, ":x = "+a,
		a+" BETWEEN :lo AND :hi", a+" IN (:x, "+b+")", "begins_with("+a+", :x)", "contains("+a+", "+b+")", "size("+a+") > :x", "attribute_type("+a+", :t)")
}

func (d dice) condition() string {
	switch d.IntN(6) {
	case 0:
		return d.condition() + " AND " + d.condition()
	case 1:
		return d.condition() + " OR " + d.condition()
	case 2:
		return "NOT " + d.simple()
	case 3:
		return "(" + d.condition() + " OR " + d.simple() + ") AND " + d.simple()
	}
	return d.simple()
}

func (d dice) update() string {
	set := func() string {
		p := d.path()
		return p + " = " + pick(d, ":x", ":y", p+" + :x", d.path()+" - :y",
			"if_not_exists("+p+", :x)", "if_not_exists("+p+", :x) + :y", "list_append("+p+", :l)", "list_append(:l, "+p+")", d.path())
	}
	clauses := []string{}
	for _, c := range []string{"SET " + set(), "SET " + set() + ", " + set(), "REMOVE " + d.path(),
		"REMOVE c[0], c[2]", "ADD " + d.path() + " " + pick(d, ":x", ":ss"), "DELETE " + d.path() + " :ss"} {
		if d.IntN(4) == 0 {
			clauses = append(clauses, c)
		}
	}
	if len(clauses) == 0 {
		return "SET " + set()
	}
	return strings.Join(clauses, " ")
}

// placeholders gives names and values for those that the expressions use.
func (d dice) placeholders(expressions ...string) (map[string]string, attr.Item) {
	names, values := map[string]string{}, attr.Item{}
	all := strings.Join(expressions, " ")
	if strings.Contains(all, "#status") {
		names["#status"] = "status"
	}
	low, high := n(pick(d, "1", "2")), n(pick(d, "1", "1000", "1e30"))
	if d.IntN(2) == 0 {
		low, high = s(pick(d, "", "a", "one")), s(pick(d, "b", "zz"))
	}
	known := map[string]attr.Value{
		":lo": low, ":hi": high, ":x": d.value(), ":y": d.value(), ":t": s(pick(d, "S", "N", "L", "M")),
		":ss": &types.AttributeValueMemberSS{Value: []string{"a", "z"}}, ":l": &types.AttributeValueMemberL{Value: []attr.Value{s("new")}},
	}
	for name, v := range known {
		if slices.Contains(strings.FieldsFunc(all, func(r rune) bool { return strings.ContainsRune(" ,()", r) }), name) {
			values[name] = v
		}
	}
	if len(names) == 0 {
		names = nil
	}
	if len(values) == 0 {
		values = nil
	}
	return names, values
}

func (d dice) call() call {
	switch d.IntN(10) {
	case 0, 1, 2:
		return d.put()
	case 3, 4, 5:
		return d.change()
	case 6:
		return d.remove()
	case 7:
		return d.query()
	case 8:
		return d.get()
	}
	return d.transact()
}

func (d dice) optional(condition string) *string {
	if d.IntN(2) == 0 {
		return nil
	}
	return &condition
}

func (d dice) put() call {
	condition := d.optional(d.condition())
	names, values := d.placeholders(aws.ToString(condition))
	in := &dynamodb.PutItemInput{TableName: aws.String(tableName),
		Item: d.item(), ConditionExpression: condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues: pick(d, types.ReturnValueNone, types.ReturnValueAllOld), ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	return call{fmt.Sprintf("put %s if %s with %s", text(in.Item), aws.ToString(condition), text(values)), func(ctx context.Context, table api) string {
		out, err := table.PutItem(ctx, in)
		if err != nil {
			return answer(nil, "", err)
		}
		return answer([]attr.Item{out.Attributes}, "", nil)
	}}
}

func (d dice) change() call {
	update, condition := d.update(), d.optional(d.condition())
	names, values := d.placeholders(update, aws.ToString(condition))
	in := &dynamodb.UpdateItemInput{TableName: aws.String(tableName),
		Key: d.key(), UpdateExpression: &update, ConditionExpression: condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues:                        pick(d, types.ReturnValueNone, types.ReturnValueAllOld, types.ReturnValueAllNew, types.ReturnValueUpdatedOld, types.ReturnValueUpdatedNew),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	return call{fmt.Sprintf("update %s: %s if %s with %s, %s", text(in.Key), update, aws.ToString(condition), text(values), in.ReturnValues),
		func(ctx context.Context, table api) string {
			out, err := table.UpdateItem(ctx, in)
			if err != nil {
				return answer(nil, "", err)
			}
			return answer([]attr.Item{out.Attributes}, "", nil)
		}}
}

func (d dice) remove() call {
	condition := d.optional(d.condition())
	names, values := d.placeholders(aws.ToString(condition))
	in := &dynamodb.DeleteItemInput{TableName: aws.String(tableName),
		Key: d.key(), ConditionExpression: condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues: types.ReturnValueAllOld, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	return call{fmt.Sprintf("delete %s if %s with %s", text(in.Key), aws.ToString(condition), text(values)), func(ctx context.Context, table api) string {
		out, err := table.DeleteItem(ctx, in)
		if err != nil {
			return answer(nil, "", err)
		}
		return answer([]attr.Item{out.Attributes}, "", nil)
	}}
}

func (d dice) get() call {
	in := &dynamodb.GetItemInput{TableName: aws.String(tableName),
		Key: d.key(), ConsistentRead: aws.Bool(true)}
	if d.IntN(2) == 0 {
		in.ProjectionExpression = aws.String(pick(d, "a, b", "a.f, c[1]", "c[2], c[0]", "gone", "a, a.f"))
	}
	return call{fmt.Sprintf("get %s %s", text(in.Key), aws.ToString(in.ProjectionExpression)), func(ctx context.Context, table api) string {
		out, err := table.GetItem(ctx, in)
		if err != nil {
			return answer(nil, "", err)
		}
		return answer([]attr.Item{out.Item}, "", nil)
	}}
}

func (d dice) query() call {
	in := &dynamodb.QueryInput{TableName: aws.String(tableName),
		ScanIndexForward: aws.Bool(d.IntN(2) == 0), ExpressionAttributeValues: attr.Item{}}
	if d.IntN(3) == 0 {
		in.IndexName = aws.String("due")
		in.KeyConditionExpression = aws.String("duePk = :p" + pick(d, "", " AND dueSk <= :a"))
		in.ExpressionAttributeValues = attr.Item{":p": s(d.pk + "D1"), ":a": s("2")}
	} else {
		in.KeyConditionExpression = aws.String("pk = :p" + pick(d, "", " AND sk > :a", " AND sk <= :a", " AND begins_with(sk, :a)",
			" AND sk BETWEEN :a AND :b", " AND sk = :a", " AND sk <> :a"))
		in.ExpressionAttributeValues = attr.Item{":p": s(d.pk + pick(d, "x", "y")), ":a": s(pick(d, "A", "B#1", "C")), ":b": s("B#2")}
		if d.IntN(3) == 0 {
			in.FilterExpression = aws.String(pick(d, "attribute_exists(a)", "b > :a", "size(c) > :a", "sk = :a"))
		}
	}
	used := *in.KeyConditionExpression + " " + aws.ToString(in.FilterExpression)
	for name := range in.ExpressionAttributeValues {
		if !strings.Contains(used, name) {
			delete(in.ExpressionAttributeValues, name)
		}
	}
	if d.IntN(2) == 0 {
		in.Limit = aws.Int32(int32(1 + d.IntN(3)))
	}
	what := fmt.Sprintf("query %s, filter %s, limit %d, forward %v, %s", *in.KeyConditionExpression, aws.ToString(in.FilterExpression),
		aws.ToInt32(in.Limit), *in.ScanIndexForward, text(in.ExpressionAttributeValues))
	return call{what, func(ctx context.Context, table api) string {
		return allPages(ctx, table, *in)
	}}
}

// allPages reads a query to its end, pages told apart.
func allPages(ctx context.Context, table api, in dynamodb.QueryInput) string {
	var pages []string
	for range 20 {
		out, err := table.Query(ctx, &in)
		if err != nil {
			return answer(nil, "", err)
		}
		pages = append(pages, answer(out.Items, fmt.Sprintf("%d of %d, then %s", out.Count, out.ScannedCount, text(out.LastEvaluatedKey)), nil))
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			break
		}
	}
	return strings.Join(pages, "\n")
}

func (d dice) transact() call {
	in := &dynamodb.TransactWriteItemsInput{}
	var what []string
	for range 1 + d.IntN(3) {
		condition, update := d.condition(), d.update()
		old := types.ReturnValuesOnConditionCheckFailureAllOld
		item := types.TransactWriteItem{}
		switch d.IntN(4) {
		case 0:
			names, values := d.placeholders(condition)
			item.Put = &types.Put{TableName: aws.String(tableName),
				Item: d.item(), ConditionExpression: &condition,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
				ReturnValuesOnConditionCheckFailure: old}
			what = append(what, fmt.Sprintf("put %s if %s %s", text(item.Put.Item), condition, text(values)))
		case 1:
			names, values := d.placeholders(update)
			item.Update = &types.Update{TableName: aws.String(tableName),
				Key: d.key(), UpdateExpression: &update,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
				ReturnValuesOnConditionCheckFailure: old}
			what = append(what, fmt.Sprintf("update %s %s %s", text(item.Update.Key), update, text(values)))
		case 2:
			item.Delete = &types.Delete{TableName: aws.String(tableName),
				Key: d.key()}
			what = append(what, "delete "+text(item.Delete.Key))
		default:
			names, values := d.placeholders(condition)
			item.ConditionCheck = &types.ConditionCheck{TableName: aws.String(tableName),
				Key: d.key(), ConditionExpression: &condition,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
				ReturnValuesOnConditionCheckFailure: old}
			what = append(what, fmt.Sprintf("check %s if %s %s", text(item.ConditionCheck.Key), condition, text(values)))
		}
		in.TransactItems = append(in.TransactItems, item)
	}
	return call{"transaction: " + strings.Join(what, "; "), func(ctx context.Context, table api) string {
		_, err := table.TransactWriteItems(ctx, in)
		return answer(nil, "", err)
	}}
}
