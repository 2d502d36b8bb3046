package store_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"math/big"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

type row = map[string]types.AttributeValue

func text(v string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: v} }
func number(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// bench is a table under test. Its time is the clock's.
type bench struct {
	store.Table
	clock *fake.Clock
	raw   *watch
}

// open gives a table over one of the back ends.
type open func(t *testing.T) bench

// each runs the same test on every back end: the fake, the local cloud's table over the wire, and a real endpoint when
// STORE_ENDPOINT names one.
func each(t *testing.T, run func(t *testing.T, b bench)) {
	ends := []struct {
		name string
		open open
	}{{"fake", openFake}, {"local", openLocal}}
	if os.Getenv("STORE_ENDPOINT") != "" {
		ends = append(ends, struct {
			name string
			open open
		}{"endpoint", openEndpoint})
	}
	for _, end := range ends {
		t.Run(end.name, func(t *testing.T) { run(t, end.open(t)) })
	}
}

// TestEndpoint says whether the suite also ran against a real endpoint.
func TestEndpoint(t *testing.T) {
	if os.Getenv("STORE_ENDPOINT") == "" {
		t.Skip("STORE_ENDPOINT names no endpoint: the suite runs on the fake and on the local table")
	}
	b := openEndpoint(t)
	if _, err := b.State(t.Context(), "nobody"); !fault.Is(err, fault.NotFound) {
		t.Errorf("State = %v, want NotFound", err)
	}
}

func openFake(t *testing.T) bench {
	clock := &fake.Clock{}
	d := fake.NewDynamo("main")
	d.Now = clock.Now
	return over(t, d, "main", clock)
}

func openLocal(t *testing.T) bench {
	clock := &fake.Clock{}
	front, err := dynamo.Open(dynamo.Config{Now: clock.Now, TTLDelay: -1, Tables: []sam.Table{{
		Name: "main", HashKey: key.PK, SortKey: key.SK, TTLAttribute: key.ExpiresAt,
		Indexes: []sam.Index{{Name: key.DueIndex, HashKey: key.DuePKName, SortKey: key.DueSKName, KeysOnly: true}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(front)
	t.Cleanup(func() {
		server.Close()
		if err := front.Close(); err != nil {
			t.Error(err)
		}
	})
	return over(t, client(server.URL), "main", clock)
}

func openEndpoint(t *testing.T) bench {
	c := client(os.Getenv("STORE_ENDPOINT"))
	name := "store-test-" + strings.ToLower(rand.Text())
	attribute := func(n string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(n), AttributeType: types.ScalarAttributeTypeS}
	}
	keys := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sort), KeyType: types.KeyTypeRange}}
	}
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: keys(key.PK, key.SK),
		AttributeDefinitions: []types.AttributeDefinition{attribute(key.PK), attribute(key.SK), attribute(key.DuePKName), attribute(key.DueSKName)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: aws.String(key.DueIndex), KeySchema: keys(key.DuePKName, key.DueSKName),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &name}) })
	waiter := dynamodb.NewTableExistsWaiter(c)
	if err := waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return over(t, c, name, &fake.Clock{})
}

func client(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, RetryMaxAttempts: 1, HTTPClient: boot.Steady(awshttp.NewBuildableClient()),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

func over(t *testing.T, api store.API, name string, clock *fake.Clock) bench {
	w := &watch{API: api}
	t.Cleanup(func() {
		if n := w.most(); n > store.MaxItemBytes {
			t.Errorf("a row of %d bytes was written, the limit is %d", n, store.MaxItemBytes)
		}
	})
	return bench{Table: store.Table{Name: name, DynamoDB: w, Now: clock.Now}, clock: clock, raw: w}
}

// watch measures the rows that are put.
type watch struct {
	store.API
	mu      sync.Mutex
	largest int
	puts    int
}

func (w *watch) measure(r row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.largest, w.puts = max(w.largest, attr.ItemSize(r)), w.puts+1
}

func (w *watch) most() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.largest
}

func (w *watch) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.puts
}

func (w *watch) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	w.measure(in.Item)
	return w.API.PutItem(ctx, in, o...)
}

func (w *watch) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, x := range in.TransactItems {
		if x.Put != nil {
			w.measure(x.Put.Item)
		}
	}
	return w.API.TransactWriteItems(ctx, in, o...)
}

// put writes a row as another program would.
func (b bench) put(t *testing.T, r row) {
	t.Helper()
	if _, err := b.raw.API.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.Name, Item: r}); err != nil {
		t.Fatal(err)
	}
}

// row reads a row as it is stored; nil if there is none.
func (b bench) row(t *testing.T, k key.Key) row {
	t.Helper()
	out, err := b.raw.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &b.Name, Key: row{key.PK: text(k.PK), key.SK: text(k.SK)}, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// partition gives the sort keys of a partition, in order.
func (b bench) partition(t *testing.T, pk string) []string {
	t.Helper()
	var list []string
	in := &dynamodb.QueryInput{TableName: &b.Name, KeyConditionExpression: aws.String("pk = :pk"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: row{":pk": text(pk)}}
	for {
		out, err := b.raw.Query(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Items {
			list = append(list, r[key.SK].(*types.AttributeValueMemberS).Value)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return list
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (b bench) commit(t *testing.T, writes ...store.Write) {
	t.Helper()
	if err := b.Commit(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
}

// wants checks a code.
func wants(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("%s = %v (%s), want %q", what, err, fault.CodeOf(err), code)
	}
}

// removeRow takes a row away as another program would; false if there was none.
func removeRow(t *testing.T, b bench, k key.Key) bool {
	t.Helper()
	out, err := b.raw.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &b.Name, Key: row{key.PK: text(k.PK), key.SK: text(k.SK)},
		ReturnValues: types.ReturnValueAllOld})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Attributes) > 0
}

// exact gives JSON values with numbers as exact fractions.
func exact(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = exact(t, v[name])
		}
	case []any:
		for i := range v {
			v[i] = exact(t, v[i])
		}
	case json.Number:
		n, ok := new(big.Rat).SetString(v.String())
		if !ok {
			t.Fatalf("%s is no number", v)
		}
		return n.RatString()
	}
	return v
}

// limitPages makes queries of the fake see so few rows a page.
func (b bench) limitPages(rows int) { b.raw.API.(*fake.Dynamo).PageItems = rows }
