package dynamo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
)

func sortKeys(items []row) string {
	var out []string
	for _, it := range items {
		out = append(out, it["sk"].(*types.AttributeValueMemberS).Value)
	}
	return strings.Join(out, " ")
}

func TestQueryRanges(t *testing.T) {
	r := start(t, dynamo.Config{})
	for _, sk := range []string{"b2", "a1", "c", "b1", "B"} {
		r.put(key("p", sk), key("other", sk))
	}
	tests := []struct {
		name, condition string
		values          row
		backward        bool
		want            string
	}{
		{"all in byte order", "pk = :p", nil, false, "B a1 b1 b2 c"},
		{"backward", "pk = :p", nil, true, "c b2 b1 a1 B"},
		{"begins_with", "pk = :p AND begins_with(sk, :x)", row{":x": s("b")}, false, "b1 b2"},
		{"between", "(pk = :p) AND (sk BETWEEN :x AND :y)", row{":x": s("a1"), ":y": s("b1")}, false, "a1 b1"},
		{"greater", "sk > :x AND pk = :p", row{":x": s("b1")}, false, "b2 c"},
		{"equal", "pk = :p and sk = :x", row{":x": s("c")}, false, "c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			values := row{":p": s("p")}
			for k, v := range tt.values {
				values[k] = v
			}
			out, err := r.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String(tableName), KeyConditionExpression: &tt.condition,
				ExpressionAttributeValues: values, ScanIndexForward: aws.Bool(!tt.backward)})
			if err != nil {
				t.Fatal(err)
			}
			if got := sortKeys(out.Items); got != tt.want || out.LastEvaluatedKey != nil {
				t.Errorf("Query = %s (%v), want %s", got, out.LastEvaluatedKey, tt.want)
			}
		})
	}
}

func TestQueryRefuses(t *testing.T) {
	r := start(t, dynamo.Config{})
	tests := []struct {
		name, message string
		in            dynamodb.QueryInput
	}{
		{"no partition", "missed key schema element: pk", dynamodb.QueryInput{KeyConditionExpression: aws.String("sk = :p")}},
		{"another attribute", "missed key schema element", dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :p AND v = :p")}},
		{"or", "Invalid operator used in KeyConditionExpression: OR", dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :p OR sk = :p")}},
		{"partition range", "not supported", dynamodb.QueryInput{KeyConditionExpression: aws.String("pk > :p")}},
		{"filter on the key", "Primary key attribute: sk", dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("sk = :p")}},
		{"consistent index", "Consistent reads are not supported", dynamodb.QueryInput{KeyConditionExpression: aws.String("duePk = :p"), IndexName: aws.String("due"), ConsistentRead: aws.Bool(true)}},
		{"no such index", "specified index: x", dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :p"), IndexName: aws.String("x")}},
		{"start key of the index lacks parts", "starting key is invalid", dynamodb.QueryInput{KeyConditionExpression: aws.String("duePk = :p"), IndexName: aws.String("due"), ExclusiveStartKey: key("p", "x")}},
		{"start key of another partition", "outside query boundaries", dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :p"), ExclusiveStartKey: key("q", "x")}},
		{"limit 0", "greater than or equal to 1", dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :p"), Limit: aws.Int32(0)}},
		{"not projected", "does not project [v]", dynamodb.QueryInput{KeyConditionExpression: aws.String("duePk = :p"), IndexName: aws.String("due"), ProjectionExpression: aws.String("v")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.TableName, tt.in.ExpressionAttributeValues = aws.String(tableName), row{":p": s("p")}
			_, err := r.Query(t.Context(), &tt.in)
			wantError(t, err, "ValidationException", tt.message)
		})
	}
}

func TestSparseKeysOnlyIndex(t *testing.T) {
	r := start(t, dynamo.Config{})
	r.put(with("a", "3", "duePk", s("d"), "dueSk", s("2"), "v", s("x")), with("a", "2", "duePk", s("d"), "dueSk", s("1")),
		with("a", "1", "duePk", s("d"), "dueSk", s("1")), with("a", "half", "duePk", s("d")), key("a", "none"))
	query := func(start row) *dynamodb.QueryOutput {
		t.Helper()
		out, err := r.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String(tableName), IndexName: aws.String("due"), Limit: aws.Int32(2),
			KeyConditionExpression: aws.String("duePk = :d"), ExpressionAttributeValues: row{":d": s("d")}, ExclusiveStartKey: start})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := query(nil)
	if got := sortKeys(first.Items); got != "1 2" {
		t.Errorf("first page %s", got)
	}
	diff(t, with("a", "2", "duePk", s("d"), "dueSk", s("1")), first.LastEvaluatedKey)
	// The row of the start key leaves the index: the next page still begins where it stood.
	if _, err := r.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(tableName), Key: key("a", "2"), UpdateExpression: aws.String("REMOVE duePk, dueSk")}); err != nil {
		t.Fatal(err)
	}
	second := query(first.LastEvaluatedKey)
	diff(t, []row{with("a", "3", "duePk", s("d"), "dueSk", s("2"))}, second.Items)
	if second.LastEvaluatedKey != nil {
		t.Errorf("more after the end: %v", second.LastEvaluatedKey)
	}
	if got := sortKeys(query(nil).Items); got != "1 3" {
		t.Errorf("after the removal: %s", got)
	}
}

func TestP23FilteredPagesMayBeEmpty(t *testing.T) {
	r := start(t, dynamo.Config{})
	for i := range 6 {
		r.put(with("p", fmt.Sprint(i), "keep", &types.AttributeValueMemberBOOL{Value: i == 5}))
	}
	in := &dynamodb.QueryInput{TableName: aws.String(tableName), KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("keep = :t"),
		ExpressionAttributeValues: row{":p": s("p"), ":t": &types.AttributeValueMemberBOOL{Value: true}}, Limit: aws.Int32(3)}
	first, err := r.Query(t.Context(), in)
	if err != nil || first.Count != 0 || first.ScannedCount != 3 || first.LastEvaluatedKey == nil {
		t.Fatalf("first page %+v, %v: want it empty with a key to go on from", first, err)
	}
	in.ExclusiveStartKey = first.LastEvaluatedKey
	second, err := r.Query(t.Context(), in)
	if err != nil || sortKeys(second.Items) != "5" || second.LastEvaluatedKey == nil {
		t.Fatalf("second page %+v, %v: the limit was reached, so a key is due", second, err)
	}
	in.ExclusiveStartKey = second.LastEvaluatedKey
	third, err := r.Query(t.Context(), in)
	if err != nil || third.ScannedCount != 0 || third.LastEvaluatedKey != nil {
		t.Fatalf("third page %+v, %v", third, err)
	}
}

func TestPagesOfOneMegabyte(t *testing.T) {
	r := start(t, dynamo.Config{})
	for i := range 5 {
		r.put(with("p", fmt.Sprint(i), "v", s(strings.Repeat("x", 300<<10))))
	}
	pages := dynamodb.NewQueryPaginator(r.Client, &dynamodb.QueryInput{TableName: aws.String(tableName), KeyConditionExpression: aws.String("pk = :p"),
		ExpressionAttributeValues: row{":p": s("p")}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal, ConsistentRead: aws.Bool(true)})
	var got []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s: %v", sortKeys(page.Items), *page.ConsumedCapacity.CapacityUnits))
	}
	diff(t, []string{"0 1 2: 226", "3 4: 151"}, got)
}

func TestScanSegmentsAndPages(t *testing.T) {
	r := start(t, dynamo.Config{})
	for i := range 30 {
		r.put(key(fmt.Sprint("p", i%7), fmt.Sprint(i)))
	}
	seen := map[string]int{}
	for segment := range int32(3) {
		pages := dynamodb.NewScanPaginator(r.Client, &dynamodb.ScanInput{TableName: aws.String(tableName), Limit: aws.Int32(4), Segment: &segment, TotalSegments: aws.Int32(3)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range page.Items {
				seen[it["sk"].(*types.AttributeValueMemberS).Value]++
			}
		}
	}
	for i := range 30 {
		if seen[fmt.Sprint(i)] != 1 {
			t.Errorf("row %d seen %d times", i, seen[fmt.Sprint(i)])
		}
	}
	out, err := r.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(tableName), Select: types.SelectCount})
	if err != nil || out.Count != 30 || out.Items != nil {
		t.Errorf("count %+v, %v", out, err)
	}
}

func TestProjection(t *testing.T) {
	r := start(t, dynamo.Config{})
	list := func(v ...types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberL{Value: v}
	}
	r.put(with("a", "1", "status", s("x"), "l", list(s("0"), s("1"), s("2")), "m", &types.AttributeValueMemberM{Value: row{"a.b": s("1"), "c": s("2")}}))
	out, err := r.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(tableName), Key: key("a", "1"),
		ProjectionExpression:     aws.String("#s, l[2], l[0], m.#ab, absent.x"),
		ExpressionAttributeNames: map[string]string{"#s": "status", "#ab": "a.b"}})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, row{"status": s("x"), "l": list(s("0"), s("2")), "m": &types.AttributeValueMemberM{Value: row{"a.b": s("1")}}}, out.Item)
}
