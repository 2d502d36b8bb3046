package fake_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

func query(condition string, values attr.Item) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{TableName: aws.String("main"), KeyConditionExpression: &condition, ExpressionAttributeValues: values}
}

func TestQueryRanges(t *testing.T) {
	d := fake.NewDynamo("main")
	for _, sk := range []string{"B#2", "A#1", "B#1", "C#1", "B#10"} {
		put(t, d, row("p", sk), row("other", sk))
	}
	tests := []struct {
		name, condition string
		values          attr.Item
		want            string
	}{
		{"all", "pk = :p", nil, "A#1 B#1 B#10 B#2 C#1"},
		{"one", "pk = :p AND sk = :a", attr.Item{":a": s("B#1")}, "B#1"},
		{"prefix", "pk = :p AND begins_with(sk, :a)", attr.Item{":a": s("B#")}, "B#1 B#10 B#2"},
		{"between, both ends in", "pk = :p AND sk BETWEEN :a AND :b", attr.Item{":a": s("B#1"), ":b": s("B#2")}, "B#1 B#10 B#2"},
		{"less", "pk = :p AND sk < :a", attr.Item{":a": s("B#1")}, "A#1"},
		{"at most", "pk = :p AND sk <= :a", attr.Item{":a": s("B#1")}, "A#1 B#1"},
		{"more, keys turned round", "sk > :a AND pk = :p", attr.Item{":a": s("B#2")}, "C#1"},
		{"at least, in parentheses", "(pk = :p) AND (sk >= :a)", attr.Item{":a": s("B#2")}, "B#2 C#1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			values := attr.Item{":p": s("p")}
			for name, v := range tt.values {
				values[name] = v
			}
			out, err := d.Query(t.Context(), query(tt.condition, values))
			if err != nil {
				t.Fatal(err)
			}
			if got := keysOf(out.Items); got != tt.want || out.LastEvaluatedKey != nil {
				t.Errorf("Query(%s) = %s, more: %v, want %s", tt.condition, got, out.LastEvaluatedKey, tt.want)
			}
		})
	}
}

func TestQueryRefuses(t *testing.T) {
	tests := []struct {
		name string
		in   *dynamodb.QueryInput
		with func(*dynamodb.QueryInput)
	}{
		{"no partition", query("sk = :a", attr.Item{":a": s("x")}), nil},
		{"range of partitions", query("pk > :a", attr.Item{":a": s("x")}), nil},
		{"OR", query("pk = :a OR sk = :a", attr.Item{":a": s("x")}), nil},
		{"another attribute", query("pk = :a AND x = :a", attr.Item{":a": s("x")}), nil},
		{"not equal", query("pk = :a AND sk <> :a", attr.Item{":a": s("x")}), nil},
		{"two ranges", query("pk = :a AND sk > :a AND sk < :a", attr.Item{":a": s("x")}), nil},
		{"type of the partition key", query("pk = :a", attr.Item{":a": n("1")}), nil},
		{"type of the sort key", query("pk = :a AND sk > :b", attr.Item{":a": s("x"), ":b": n("1")}), nil},
		{"bounds turned round", query("pk = :a AND sk BETWEEN :b AND :a", attr.Item{":a": s("a"), ":b": s("b")}), nil},
		{"unused value", query("pk = :a", attr.Item{":a": s("x"), ":b": s("y")}), nil},
		{"unknown index", query("pk = :a", attr.Item{":a": s("x")}), func(in *dynamodb.QueryInput) { in.IndexName = aws.String("none") }},
		{"filter on a key", query("pk = :a", attr.Item{":a": s("x")}), func(in *dynamodb.QueryInput) { in.FilterExpression = aws.String("sk = :a") }},
		{"limit 0", query("pk = :a", attr.Item{":a": s("x")}), func(in *dynamodb.QueryInput) { in.Limit = aws.Int32(0) }},
		{"start in another partition", query("pk = :a", attr.Item{":a": s("x")}), func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = row("y", "1") }},
		{"consistent read of an index", query("duePk = :a", attr.Item{":a": s("x")}), func(in *dynamodb.QueryInput) {
			in.IndexName, in.ConsistentRead = aws.String("due"), aws.Bool(true)
		}},
		{"attribute the index does not hold", query("duePk = :a", attr.Item{":a": s("x")}), func(in *dynamodb.QueryInput) {
			in.IndexName, in.ProjectionExpression = aws.String("due"), aws.String("x")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.with != nil {
				tt.with(tt.in)
			}
			if _, err := new(fake.Dynamo).Query(t.Context(), tt.in); codeOf(err) != "ValidationException" {
				t.Errorf("Query = %v, want ValidationException", err)
			}
		})
	}
}

// pages reads all pages of a query: the rows of each page, with / between.
func pages(t *testing.T, d *fake.Dynamo, in *dynamodb.QueryInput) string {
	t.Helper()
	var out []string
	for {
		page, err := d.Query(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, keysOf(page.Items))
		if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return strings.Join(out, "/")
		}
	}
}

func TestP23PagesWithoutItemsGoOn(t *testing.T) {
	d := fake.NewDynamo("main")
	for _, sk := range []string{"1", "2", "3", "4"} {
		put(t, d, row("p", sk, "x", s(sk)))
	}
	in := query("pk = :p", attr.Item{":p": s("p"), ":x": s("4")})
	in.FilterExpression, in.Limit = aws.String("x = :x"), aws.Int32(2)
	if got := pages(t, d, in); got != "/4/" {
		t.Errorf("pages = %q, want an empty one, the row, and an empty one since the limit was reached at the end", got)
	}
	in = query("pk = :p", attr.Item{":p": s("p")})
	in.ScanIndexForward, d.PageItems = aws.Bool(false), 3
	if got := pages(t, d, in); got != "4 3 2/1" {
		t.Errorf("backwards by 3 = %q", got)
	}
}

func TestPagesEndAtOneMegabyte(t *testing.T) {
	d := fake.NewDynamo("main")
	for _, sk := range []string{"1", "2", "3"} {
		put(t, d, row("p", sk, "x", s(strings.Repeat("x", 399*1024))))
	}
	if got := pages(t, d, query("pk = :p", attr.Item{":p": s("p")})); got != "1 2/3" {
		t.Errorf("pages = %q, want two rows of 399 KB on the first", got)
	}
}

func TestIndexIsSparseAndLate(t *testing.T) {
	d := fake.NewDynamo("main")
	due := func(sk, at string) attr.Item { return row("p", sk, "duePk", s("D"), "dueSk", s(at), "x", s("hidden")) }
	put(t, d, due("late", "2"), due("early", "1"), row("p", "never"))
	in := query("duePk = :d AND dueSk <= :now", attr.Item{":d": s("D"), ":now": s("2")})
	in.IndexName = aws.String("due")
	out, err := d.Query(t.Context(), in)
	if err != nil || keysOf(out.Items) != "early late" {
		t.Fatalf("due = %v, %v", out, err)
	}
	if len(out.Items[0]) != 4 {
		t.Errorf("the index holds %v, want keys only", out.Items[0])
	}
	put(t, d, row("p", "early"))
	d.IndexLag = 1
	out, _ = d.Query(t.Context(), in)
	if got := keysOf(out.Items); got != "early late" {
		t.Errorf("an index one change late = %q, want the row that is no longer due", got)
	}
	d.IndexLag = 0
	out, _ = d.Query(t.Context(), in)
	if got := keysOf(out.Items); got != "late" {
		t.Errorf("the index in time = %q", got)
	}
}

func TestStaleRead(t *testing.T) {
	d := fake.NewDynamo("main")
	d.StaleRead = 1
	put(t, d, row("p", "1", "x", s("old")), row("p", "1", "x", s("new")))
	read := func(consistent bool) string {
		out, err := d.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("main"), Key: row("p", "1"), ConsistentRead: &consistent})
		if err != nil {
			t.Fatal(err)
		}
		return out.Item["x"].(*types.AttributeValueMemberS).Value
	}
	if read(false) != "old" || read(true) != "new" {
		t.Errorf("reads = %s and consistently %s, want old and new", read(false), read(true))
	}
}

func TestCreateTable(t *testing.T) {
	d := fake.NewDynamo()
	in := &dynamodb.CreateTableInput{
		TableName:            aws.String("numbers"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeN}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	}
	if _, err := d.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if _, err := d.CreateTable(t.Context(), in); codeOf(err) != "ResourceInUseException" {
		t.Errorf("CreateTable again = %v", err)
	}
	for _, id := range []string{"10", "9", "1e1"} {
		_, err := d.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: in.TableName, Item: attr.Item{"id": n(id)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := "10\n9\n"; d.Dump() != want {
		t.Errorf("Dump() = %q, want %q", d.Dump(), want)
	}
}
