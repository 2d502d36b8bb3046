package dynamo_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
)

func putOf(it row, condition string) types.TransactWriteItem {
	p := &types.Put{TableName: aws.String(tableName), Item: it, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	if condition != "" {
		p.ConditionExpression = &condition
	}
	return types.TransactWriteItem{Put: p}
}

func TestTransactionAllOrNothing(t *testing.T) {
	r := start(t, dynamo.Config{})
	r.put(with("a", "1", "v", n("1")))
	_, err := r.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		putOf(key("a", "new"), ""),
		putOf(key("a", "1"), "attribute_not_exists(pk)"),
		{Update: &types.Update{TableName: aws.String(tableName), Key: key("a", "2"), UpdateExpression: aws.String("SET v = v")}},
		{ConditionCheck: &types.ConditionCheck{TableName: aws.String(tableName), Key: key("a", "3"), ConditionExpression: aws.String("attribute_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}},
	}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		t.Fatal(err)
	}
	want := "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ValidationError, ConditionalCheckFailed]"
	if cancelled.ErrorMessage() != want {
		t.Errorf("message %q", cancelled.ErrorMessage())
	}
	var codes []string
	for _, reason := range cancelled.CancellationReasons {
		codes = append(codes, aws.ToString(reason.Code))
	}
	diff(t, []string{"None", "ConditionalCheckFailed", "ValidationError", "ConditionalCheckFailed"}, codes)
	diff(t, with("a", "1", "v", n("1")), cancelled.CancellationReasons[1].Item)
	diff(t, row(nil), cancelled.CancellationReasons[3].Item)
	if r.get("a", "new") != nil {
		t.Error("a cancelled transaction wrote")
	}
}

func TestTransactionRefuses(t *testing.T) {
	r := start(t, dynamo.Config{})
	var many, large []types.TransactWriteItem
	for i := range 101 {
		many = append(many, putOf(key("a", fmt.Sprint(i)), ""))
	}
	for i := range 12 {
		large = append(large, putOf(with("a", fmt.Sprint(i), "v", s(strings.Repeat("x", 380<<10))), ""))
	}
	tests := []struct {
		name, message string
		items         []types.TransactWriteItem
	}{
		{"101", "between 1 and 100", many},
		{"over 4 MB", "4 MB", large},
		{"one row twice", "multiple operations on one item", []types.TransactWriteItem{putOf(key("a", "1"), ""), {Delete: &types.Delete{TableName: aws.String(tableName), Key: key("a", "1")}}}},
		{"two actions", "only contain one of", []types.TransactWriteItem{{Put: putOf(key("a", "1"), "").Put, Delete: &types.Delete{TableName: aws.String(tableName), Key: key("a", "2")}}}},
		{"unused placeholder", "unused", []types.TransactWriteItem{{Update: &types.Update{TableName: aws.String(tableName), Key: key("a", "1"), UpdateExpression: aws.String("REMOVE x"), ExpressionAttributeNames: map[string]string{"#y": "y"}}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: tt.items})
			wantError(t, err, "ValidationException", tt.message)
		})
	}
	if r.get("a", "1") != nil {
		t.Error("a refused transaction wrote")
	}
}

func TestRequestToken(t *testing.T) {
	var now atomic.Int64 // seconds; read by the front's own goroutines
	now.Store(1_800_000_000)
	data := t.TempDir()
	open := func() *rig {
		return start(t, dynamo.Config{Data: data, Now: func() time.Time { return time.Unix(now.Load(), 0) }})
	}
	r := open()
	add := func(by string) error {
		_, err := r.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("once"), TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: aws.String(tableName), Key: key("a", "1"), UpdateExpression: aws.String("ADD n1 :n"), ExpressionAttributeValues: row{":n": n(by)}}}}})
		return err
	}
	wantError(t, add("1"), "", "")
	wantError(t, add("1"), "", "")
	wantError(t, add("2"), "IdempotentParameterMismatchException", "")
	r.front.Close()
	r = open()
	wantError(t, add("1"), "", "")
	diff(t, n("1"), r.get("a", "1")["n1"])
	now.Add(11 * 60)
	wantError(t, add("1"), "", "")
	diff(t, n("2"), r.get("a", "1")["n1"])
}

func TestTransactGet(t *testing.T) {
	r := start(t, dynamo.Config{})
	r.put(with("a", "1", "v", s("x"), "w", s("y")))
	get := func(sk string) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: aws.String(tableName), Key: key("a", sk), ProjectionExpression: aws.String("v")}}
	}
	out, err := r.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get("2"), get("1")}})
	if err != nil || len(out.Responses) != 2 || out.Responses[0].Item != nil {
		t.Fatalf("%+v, %v", out, err)
	}
	diff(t, row{"v": s("x")}, out.Responses[1].Item)
}

func TestBatches(t *testing.T) {
	r := start(t, dynamo.Config{})
	writes := func(count int, same bool) []types.WriteRequest {
		var out []types.WriteRequest
		for i := range count {
			if same {
				i = 0
			}
			out = append(out, types.WriteRequest{PutRequest: &types.PutRequest{Item: key("a", fmt.Sprint(i))}})
		}
		return out
	}
	batch := func(w []types.WriteRequest) error {
		_, err := r.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{tableName: w}})
		return err
	}
	wantError(t, batch(writes(25, false)), "", "")
	wantError(t, batch(writes(26, false)), "ValidationException", "between 1 and 25")
	wantError(t, batch(writes(2, true)), "ValidationException", "duplicates")
	wantError(t, batch([]types.WriteRequest{{DeleteRequest: &types.DeleteRequest{Key: key("a", "0")}}}), "", "")
	out, err := r.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		tableName: {Keys: []row{key("a", "0"), key("a", "1"), key("a", "24")}}}})
	if err != nil || len(out.Responses[tableName]) != 2 || len(out.UnprocessedKeys) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestConsumedCapacity(t *testing.T) {
	r := start(t, dynamo.Config{})
	kb := func(n int) types.AttributeValue { return s(strings.Repeat("x", n<<10)) }
	put := func(it row) *types.ConsumedCapacity {
		out, err := r.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: it, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes})
		if err != nil {
			t.Fatal(err)
		}
		return out.ConsumedCapacity
	}
	want := func(total, table float64, index map[string]float64) *types.ConsumedCapacity {
		c := &types.ConsumedCapacity{TableName: aws.String(tableName), CapacityUnits: &total, Table: &types.Capacity{CapacityUnits: &table}}
		for name, units := range index {
			if c.GlobalSecondaryIndexes == nil {
				c.GlobalSecondaryIndexes = map[string]types.Capacity{}
			}
			c.GlobalSecondaryIndexes[name] = types.Capacity{CapacityUnits: &units}
		}
		return c
	}
	diff(t, want(4, 4, nil), put(with("a", "1", "v", kb(3))))
	diff(t, want(4, 4, nil), put(key("a", "1"))) // the larger of old and new
	diff(t, want(2, 1, map[string]float64{"due": 1}), put(with("a", "1", "duePk", s("d"), "dueSk", s("1"))))
	diff(t, want(3, 1, map[string]float64{"due": 2}), put(with("a", "1", "duePk", s("d"), "dueSk", s("2")))) // out of one place, into another
	diff(t, want(1, 1, nil), put(with("a", "1", "duePk", s("d"), "dueSk", s("2"), "v", s("x"))))             // the index does not carry v
	tx, err := r.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		TransactItems: []types.TransactWriteItem{putOf(with("b", "1", "v", kb(1)), ""), putOf(key("b", "2"), "")}})
	if err != nil || *tx.ConsumedCapacity[0].CapacityUnits != 6 {
		t.Errorf("transaction %+v, %v", tx, err)
	}
}
