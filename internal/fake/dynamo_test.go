package fake_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

func s(text string) attr.Value { return &types.AttributeValueMemberS{Value: text} }
func n(text string) attr.Value { return &types.AttributeValueMemberN{Value: text} }

// row makes an item from pk, sk and then pairs of a name and a value.
func row(pk, sk string, pairs ...any) attr.Item {
	item := attr.Item{"pk": s(pk), "sk": s(sk)}
	for i := 0; i < len(pairs); i += 2 {
		item[pairs[i].(string)] = pairs[i+1].(attr.Value)
	}
	return item
}

func put(t *testing.T, d *fake.Dynamo, items ...attr.Item) {
	t.Helper()
	for _, item := range items {
		if _, err := d.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("main"), Item: item}); err != nil {
			t.Fatalf("PutItem(%v): %v", item, err)
		}
	}
}

// codeOf is the error code of a service error, "" for none.
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func keysOf(items []map[string]types.AttributeValue) string {
	var out []string
	for _, item := range items {
		out = append(out, item["sk"].(*types.AttributeValueMemberS).Value)
	}
	return strings.Join(out, " ")
}

func TestPutRefuses(t *testing.T) {
	tests := []struct {
		name string
		item attr.Item
		want string
	}{
		{"a row", row("a", "b", "x", s("")), ""},
		{"no sort key", attr.Item{"pk": s("a")}, "ValidationException"},
		{"empty key", row("", "b"), "ValidationException"},
		{"key of another type", attr.Item{"pk": s("a"), "sk": n("1")}, "ValidationException"},
		{"no value", attr.Item{"pk": s("a"), "sk": s("b"), "x": nil}, "ValidationException"},
		{"empty set", row("a", "b", "x", &types.AttributeValueMemberSS{}), "ValidationException"},
		{"repeated element", row("a", "b", "x", &types.AttributeValueMemberNS{Value: []string{"1", "1.0"}}), "ValidationException"},
		{"NULL that is not true", row("a", "b", "x", &types.AttributeValueMemberNULL{}), "ValidationException"},
		{"39 digits", row("a", "b", "x", n(strings.Repeat("1", 39))), "ValidationException"},
		{"1e400", row("a", "b", "x", n("1e400")), "ValidationException"},
		{"index key of another type", row("a", "b", "duePk", n("1")), "ValidationException"},
		{"empty index key", row("a", "b", "duePk", s("")), "ValidationException"},
		{"exactly 400 KB", row("a", "b", "x", s(strings.Repeat("x", fake.MaxItemBytes-7))), ""},
		{"over 400 KB", row("a", "b", "x", s(strings.Repeat("x", fake.MaxItemBytes-6))), "ValidationException"},
		{"sort key over 1 KB", row("a", strings.Repeat("b", 1025)), "ValidationException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := new(fake.Dynamo).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("main"), Item: tt.item})
			if got := codeOf(err); got != tt.want {
				t.Errorf("PutItem = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestConditionFailureShowsTheOldRow(t *testing.T) {
	d := fake.NewDynamo("main")
	put(t, d, row("a", "b", "owner", s("me")))
	in := &dynamodb.PutItemInput{
		TableName: aws.String("main"), Item: row("a", "b"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	_, err := d.PutItem(t.Context(), in)
	old, failed := fake.AsConditionFailed(err, 0)
	if !failed || attr.Text(old["owner"]) != `"me"` {
		t.Errorf("PutItem = %v with %v, want a failed condition and the old row", err, old)
	}
	in.ReturnValuesOnConditionCheckFailure = ""
	_, err = d.PutItem(t.Context(), in)
	if old, failed := fake.AsConditionFailed(err, 0); !failed || old != nil {
		t.Errorf("PutItem = %v with %v, want no row when it was not asked for", err, old)
	}
}

func TestUpdate(t *testing.T) {
	tests := []struct {
		name, expression string
		back             types.ReturnValue
		want, code       string
	}{
		{"new row", "SET x = :one", types.ReturnValueAllNew, `{"pk": "a", "sk": "new", "x": 1}`, ""},
		{"key attribute", "SET sk = :one", "", "", "ValidationException"},
		{"index key of another type", "SET duePk = :one", "", "", "ValidationException"},
		{"unused value", "REMOVE x", "", "", "ValidationException"},
		{"updated new", "SET x = :one", types.ReturnValueUpdatedNew, `{"x": 1}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := new(fake.Dynamo).UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: aws.String("main"), Key: row("a", "new"), UpdateExpression: &tt.expression, ReturnValues: tt.back,
				ExpressionAttributeValues: attr.Item{":one": n("1")},
			})
			if got := codeOf(err); got != tt.code {
				t.Fatalf("UpdateItem = %v, want %q", err, tt.code)
			}
			if tt.want == "" {
				return
			}
			if got := attr.Text(&types.AttributeValueMemberM{Value: out.Attributes}); got != tt.want {
				t.Errorf("UpdateItem = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestUnknownTable(t *testing.T) {
	_, err := fake.NewDynamo("main").GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("other"), Key: row("a", "b")})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) {
		t.Errorf("GetItem = %v, want ResourceNotFoundException", err)
	}
}

func TestRowsAreCopies(t *testing.T) {
	d := fake.NewDynamo("main")
	list := &types.AttributeValueMemberL{Value: []attr.Value{s("x")}}
	put(t, d, row("a", "b", "list", list))
	list.Value[0] = s("changed")
	get := func() *types.AttributeValueMemberL {
		out, err := d.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("main"), Key: row("a", "b")})
		if err != nil {
			t.Fatal(err)
		}
		return out.Item["list"].(*types.AttributeValueMemberL)
	}
	get().Value[0] = s("changed")
	if got := attr.Text(get()); got != `["x"]` {
		t.Errorf("stored list = %s, want [\"x\"]", got)
	}
}

func action(item attr.Item, condition string) types.TransactWriteItem {
	p := &types.Put{TableName: aws.String("main"), Item: item, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	if condition != "" {
		p.ConditionExpression = &condition
	}
	return types.TransactWriteItem{Put: p}
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	d := fake.NewDynamo("main")
	put(t, d, row("a", "2", "owner", s("me")))
	_, err := d.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		action(row("a", "1"), "attribute_not_exists(pk)"),
		action(row("a", "2"), "attribute_not_exists(pk)"),
		{ConditionCheck: &types.ConditionCheck{TableName: aws.String("main"), Key: row("a", "3"), ConditionExpression: aws.String("attribute_not_exists(pk)")}},
	}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		t.Fatalf("TransactWriteItems = %v, want a cancelled transaction", err)
	}
	var codes []string
	for _, r := range cancelled.CancellationReasons {
		codes = append(codes, *r.Code)
	}
	if diff := cmp.Diff([]string{"None", "ConditionalCheckFailed", "None"}, codes); diff != "" {
		t.Error(diff)
	}
	if old, ok := fake.AsConditionFailed(err, 1); !ok || attr.Text(old["owner"]) != `"me"` {
		t.Errorf("reason 1 = %v, want the old row", old)
	}
	if want := "a|2\n  owner = \"me\"\n"; d.Dump() != want {
		t.Errorf("rows = %q, want %q", d.Dump(), want)
	}
}

func TestTransactionRefuses(t *testing.T) {
	many := make([]types.TransactWriteItem, 101)
	for i := range many {
		many[i] = action(row("a", strings.Repeat("x", i+1)), "")
	}
	big := make([]types.TransactWriteItem, 11)
	for i := range big {
		big[i] = action(row("a", strings.Repeat("x", i+1), "v", s(strings.Repeat("x", 390*1024))), "")
	}
	tests := []struct {
		name  string
		items []types.TransactWriteItem
		want  string
	}{
		{"nothing", nil, "ValidationException"},
		{"101 actions", many, "ValidationException"},
		{"100 actions", many[:100], ""},
		{"over 4 MB", big, "ValidationException"},
		{"two on one row", []types.TransactWriteItem{action(row("a", "b"), ""), action(row("a", "b"), "")}, "ValidationException"},
		{"empty action", []types.TransactWriteItem{{}}, "ValidationException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := new(fake.Dynamo)
			_, err := d.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: tt.items})
			if got := codeOf(err); got != tt.want {
				t.Errorf("TransactWriteItems = %v, want %q", err, tt.want)
			}
			if tt.want != "" && d.Dump() != "" {
				t.Error("a refused transaction wrote rows")
			}
		})
	}
}

func TestRequestToken(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := fake.NewDynamo("main")
	d.Now = func() time.Time { return now }
	send := func(sk string) error {
		_, err := d.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("t1"), TransactItems: []types.TransactWriteItem{action(row("a", sk), "attribute_not_exists(pk)")},
		})
		return err
	}
	if err := send("1"); err != nil {
		t.Fatal(err)
	}
	if err := send("1"); err != nil {
		t.Errorf("repeat = %v, want success without effect", err)
	}
	if got := codeOf(send("2")); got != "IdempotentParameterMismatchException" {
		t.Errorf("another request with the token = %q", got)
	}
	now = now.Add(11 * time.Minute)
	if err := send("1"); codeOf(err) != "TransactionCanceledException" {
		t.Errorf("after ten minutes = %v, want the condition to fail", err)
	}
}

func TestBatches(t *testing.T) {
	d := fake.NewDynamo("main")
	d.BatchMax = 2
	requests := map[string][]types.WriteRequest{"main": nil}
	for _, sk := range []string{"1", "2", "3"} {
		requests["main"] = append(requests["main"], types.WriteRequest{PutRequest: &types.PutRequest{Item: row("a", sk)}})
	}
	out, err := d.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: requests})
	if err != nil || len(out.UnprocessedItems["main"]) != 1 {
		t.Fatalf("BatchWriteItem = %v, %v, want one unprocessed", out, err)
	}
	got, err := d.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		"main": {Keys: []map[string]types.AttributeValue{row("a", "3"), row("a", "1"), row("a", "2")}},
	}})
	if err != nil || keysOf(got.Responses["main"]) != "1" || len(got.UnprocessedKeys["main"].Keys) != 1 {
		t.Errorf("BatchGetItem = %v, %v, want row 1 and one unprocessed key", got, err)
	}
}

func TestDeleteExpired(t *testing.T) {
	d := fake.NewDynamo("main")
	put(t, d, row("a", "old", "expiresAt", n("100")), row("a", "young", "expiresAt", n("101")), row("a", "text", "expiresAt", s("1")))
	if got := d.DeleteExpired("expiresAt", time.Unix(100, 0)); got != 1 {
		t.Errorf("DeleteExpired = %d, want 1", got)
	}
	if got := keysOf(d.Items("a")); got != "text young" {
		t.Errorf("rows left = %s", got)
	}
}

func TestUnits(t *testing.T) {
	d := fake.NewDynamo("main")
	put(t, d, row("a", "b", "x", s(strings.Repeat("x", 2000))))
	if got := d.Units(); got != (fake.Units{Write: 2}) {
		t.Errorf("a put of 2 KB = %+v, want 2 write units", got)
	}
	before := d.Units()
	put(t, d, row("a", "c", "duePk", s("D"), "dueSk", s("1")))
	if got := d.Units().Minus(before); got != (fake.Units{Write: 2}) {
		t.Errorf("a put with an index = %+v, want 2 write units", got)
	}
	before = d.Units()
	ctx := context.Background()
	out, err := d.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("main"), Key: row("a", "b"), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	if err != nil || *out.ConsumedCapacity.CapacityUnits != 0.5 {
		t.Errorf("GetItem consumed %v, %v, want 0.5", out, err)
	}
	if _, err := d.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{action(row("a", "d"), "")}}); err != nil {
		t.Fatal(err)
	}
	if got := d.Units().Minus(before); got != (fake.Units{Read: 0.5, Write: 2}) {
		t.Errorf("a read and a transaction = %+v, want 0.5 and 2", got)
	}
}

func TestInjectedErrors(t *testing.T) {
	world := &fake.World{}
	d := fake.NewDynamo("main")
	d.World = world
	write := func() error {
		_, err := d.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{action(row("a", "b"), "attribute_not_exists(pk)")}})
		return err
	}
	world.FailNext("dynamo.TransactWriteItems", fake.ErrConflict)
	var cancelled *types.TransactionCanceledException
	if err := write(); !errors.As(err, &cancelled) || *cancelled.CancellationReasons[0].Code != "TransactionConflict" {
		t.Errorf("conflict = %v", err)
	}
	world.FailNext("dynamo", nil)
	var throttled *types.ThrottlingException
	if err := write(); !errors.As(err, &throttled) {
		t.Errorf("throttle = %v", err)
	}
	world.LoseAnswer(3)
	var timeout interface{ Timeout() bool }
	if err := write(); !errors.Is(err, fake.ErrLost) || !errors.As(err, &timeout) {
		t.Errorf("lost answer = %v, want a timeout", err)
	}
	if got := keysOf(d.Items("a")); got != "b" {
		t.Errorf("rows = %q, want the write whose answer was lost", got)
	}
	if _, failed := fake.AsConditionFailed(write(), 0); !failed {
		t.Error("the repeat after a lost answer should find its own row")
	}
	if got := world.Count("dynamo."); got != 4 {
		t.Errorf("calls = %d, want 4", got)
	}
}
