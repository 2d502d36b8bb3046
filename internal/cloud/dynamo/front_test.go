package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

const tableName = "rows"

func spec() sam.Table {
	return sam.Table{Name: tableName, HashKey: "pk", SortKey: "sk", TTLAttribute: "expiresAt",
		Indexes: []sam.Index{{Name: "due", HashKey: "duePk", SortKey: "dueSk", KeysOnly: true}, {Name: "all", HashKey: "g", SortKey: "sk"}}}
}

// rig is a front with a real client in front of it.
type rig struct {
	*dynamodb.Client
	front *dynamo.Front
	t     *testing.T
}

func start(t *testing.T, cfg dynamo.Config) *rig {
	t.Helper()
	if cfg.Tables == nil {
		cfg.Tables = []sam.Table{spec()}
	}
	front, err := dynamo.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(front)
	t.Cleanup(func() { srv.Close(); front.Close() })
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(srv.URL), RetryMaxAttempts: 1,
		HTTPClient:  boot.Steady(awshttp.NewBuildableClient()),
		Credentials: credentials.NewStaticCredentialsProvider("fn-test", "x", ""),
	})
	return &rig{client, front, t}
}

type row = map[string]types.AttributeValue

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

func key(pk, sk string) row { return row{"pk": s(pk), "sk": s(sk)} }

// with is a row of that key and further attributes given as name, value pairs.
func with(pk, sk string, more ...any) row {
	r := key(pk, sk)
	for i := 0; i < len(more); i += 2 {
		r[more[i].(string)] = more[i+1].(types.AttributeValue)
	}
	return r
}

func (r *rig) put(items ...row) {
	r.t.Helper()
	for _, it := range items {
		if _, err := r.PutItem(r.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: it}); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) get(pk, sk string) row {
	r.t.Helper()
	out, err := r.GetItem(r.t.Context(), &dynamodb.GetItemInput{TableName: aws.String(tableName), Key: key(pk, sk), ConsistentRead: aws.Bool(true)})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Item
}

func diff(t *testing.T, want, got any) {
	t.Helper()
	opts := cmp.Options{cmpopts.EquateEmpty(),
		cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberL{},
			types.AttributeValueMemberM{}, types.AttributeValueMemberNULL{}, types.AttributeValueMemberBOOL{}, types.AttributeValueMemberB{},
			types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.ConsumedCapacity{}, types.Capacity{})}
	if d := cmp.Diff(want, got, opts); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// wantError checks code and a part of the message; an empty code wants none.
func wantError(t *testing.T, err error, code, message string) {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Errorf("error %v, want none", err)
		}
		return
	}
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code || !strings.Contains(api.ErrorMessage(), message) {
		t.Errorf("error %v, want %s with %q", err, code, message)
	}
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	r := start(t, dynamo.Config{})
	it := with("a", "1",
		"list", &types.AttributeValueMemberL{Value: []types.AttributeValue{}}, "map", &types.AttributeValueMemberM{Value: row{}},
		"empty", s(""), "null", &types.AttributeValueMemberNULL{Value: true}, "no", &types.AttributeValueMemberBOOL{Value: false},
		"big", n("9007199254740993"), "exact", n("0.1234567890123456789012345678901234567"), "bytes", &types.AttributeValueMemberB{Value: []byte{0, 255}},
		"html", s("<a&b>\u2028"), "set", &types.AttributeValueMemberSS{Value: []string{"x", "y"}}, "ttl", n("1"), "state", s("reserved names are fine in items"),
		"deep", &types.AttributeValueMemberM{Value: row{"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberB{Value: []byte("z")}}}}})
	r.put(it)
	diff(t, it, r.get("a", "1"))
	if got := r.get("a|S:b", "c"); got != nil {
		t.Errorf("a missing row is %v", got)
	}
}

func TestNumbersAreWrittenOneWay(t *testing.T) {
	r := start(t, dynamo.Config{})
	for in, want := range map[string]string{"1.0": "1", "1e2": "100", "-0": "0", "007": "7", "1E-3": "0.001", "+5": "5", "-12.340": "-12.34"} {
		r.put(with("a", "1", "n", n(in)))
		diff(t, n(want), r.get("a", "1")["n"])
	}
}

func TestPutRefuses(t *testing.T) {
	long := strings.Repeat("x", 1025)
	tests := []struct {
		name    string
		item    row
		message string
	}{
		{"no sort key", row{"pk": s("a")}, "Missing the key sk in the item"},
		{"number as key", row{"pk": n("1"), "sk": s("a")}, "Type mismatch for key pk expected: S actual: N"},
		{"empty key", key("", "1"), "cannot contain an empty string value. Key: pk"},
		{"long sort key", key("a", long), "maximum size limit of 1024 bytes"},
		{"empty index key", with("a", "1", "duePk", s("")), "IndexName: due, IndexKey: duePk"},
		{"index key of another type", with("a", "1", "duePk", n("1")), "Type mismatch for Index Key duePk Expected: S Actual: N IndexName: due"},
		{"39 digits", with("a", "1", "n", n("123456789012345678901234567890123456789")), "more than 38 significant digits"},
		{"too large a number", with("a", "1", "n", n("1e126")), "Number overflow"},
		{"not a number", with("a", "1", "n", n("1e")), "cannot be converted to a numeric value"},
		{"empty set", with("a", "1", "n", &types.AttributeValueMemberSS{Value: []string{}}), "may not be empty"},
		{"twice in a set", with("a", "1", "n", &types.AttributeValueMemberNS{Value: []string{"1", "1.0"}}), "duplicates"},
		{"one byte over 400 KB", with("a", "1", "v", s(strings.Repeat("x", 400<<10-6))), "Item size has exceeded the maximum allowed size"},
	}
	r := start(t, dynamo.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: tt.item})
			wantError(t, err, "ValidationException", tt.message)
		})
	}
	r.put(with("a", "1", "v", s(strings.Repeat("x", 400<<10-7)))) // pk a sk 1 v: 7 bytes besides
	_, err := r.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("other"), Item: key("a", "1")})
	wantError(t, err, "ResourceNotFoundException", "other")
}

func TestUpdatePastTheLimitChangesNothing(t *testing.T) {
	r := start(t, dynamo.Config{})
	r.put(with("a", "1", "v", s(strings.Repeat("x", 300<<10))))
	_, err := r.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(tableName), Key: key("a", "1"),
		UpdateExpression: aws.String("SET w = v")})
	wantError(t, err, "ValidationException", "Item size to update has exceeded")
	if _, ok := r.get("a", "1")["w"]; ok {
		t.Error("a refused update left its mark")
	}
}

func TestConditionFailureShowsTheOldItem(t *testing.T) {
	r := start(t, dynamo.Config{})
	old := with("a", "1", "v", n("7"))
	r.put(old)
	in := &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: key("a", "1"), ConditionExpression: aws.String("attribute_not_exists(pk)")}
	_, err := r.PutItem(t.Context(), in)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || failed.Item != nil || failed.ErrorMessage() != "The conditional request failed" {
		t.Fatalf("without asking: %#v", err)
	}
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	if _, err = r.PutItem(t.Context(), in); !errors.As(err, &failed) {
		t.Fatal(err)
	}
	diff(t, old, failed.Item)
	del := &dynamodb.DeleteItemInput{TableName: aws.String(tableName), Key: key("a", "nothing"), ConditionExpression: aws.String("attribute_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	if _, err = r.DeleteItem(t.Context(), del); !errors.As(err, &failed) || failed.Item != nil {
		t.Errorf("without an old item: %v %v", err, failed)
	}
}

func TestReturnValues(t *testing.T) {
	r := start(t, dynamo.Config{})
	old := with("a", "1", "n", n("1"), "m", &types.AttributeValueMemberM{Value: row{"x": s("1"), "y": s("2")}})
	now := with("a", "1", "n", n("2"), "m", &types.AttributeValueMemberM{Value: row{"x": s("9"), "y": s("2")}})
	want := map[types.ReturnValue]row{
		types.ReturnValueNone: nil, types.ReturnValueAllOld: old, types.ReturnValueAllNew: now,
		types.ReturnValueUpdatedOld: {"n": n("1"), "m": &types.AttributeValueMemberM{Value: row{"x": s("1")}}},
		types.ReturnValueUpdatedNew: {"n": n("2"), "m": &types.AttributeValueMemberM{Value: row{"x": s("9")}}},
	}
	for which, attributes := range want {
		r.put(old)
		out, err := r.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(tableName), Key: key("a", "1"), ReturnValues: which,
			UpdateExpression: aws.String("SET m.x = :x ADD n :one"), ExpressionAttributeValues: row{":x": s("9"), ":one": n("1")}})
		if err != nil {
			t.Fatal(err)
		}
		diff(t, attributes, out.Attributes)
		diff(t, now, r.get("a", "1"))
	}
	_, err := r.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: old, ReturnValues: types.ReturnValueAllNew})
	wantError(t, err, "ValidationException", "returnValues")
}

func TestExpressionsThatAreRefused(t *testing.T) {
	r := start(t, dynamo.Config{})
	tests := []struct {
		name, update, condition string
		names                   map[string]string
		values                  row
		message                 string
	}{
		{"reserved word", "SET status = :v", "", nil, row{":v": s("x")}, "reserved keyword: status"},
		{"unused name", "SET v = :v", "", map[string]string{"#x": "x"}, row{":v": s("x")}, "unused in expressions: keys: {#x}"},
		{"unused value", "SET v = :v", "", nil, row{":v": s("x"), ":w": s("x")}, "unused in expressions: keys: {:w}"},
		{"undefined name", "SET #v = :v", "", nil, row{":v": s("x")}, "attribute name: #v"},
		{"undefined value", "SET v = :v", "", nil, nil, "attribute value: :v"},
		{"values without expression", "", "", nil, row{":v": s("x")}, "can only be specified when using expressions"},
		{"rest after the condition", "SET v = :v", "attribute_exists(pk) pk", nil, row{":v": s("x")}, "Syntax error"},
		{"part of the key", "SET sk = :v", "", nil, row{":v": s("x")}, "Cannot update attribute sk. This attribute is part of the key"},
		{"one path twice", "SET a.b = :v, a = :v", "", nil, row{":v": s("x")}, "overlap"},
		{"section twice", "SET v = :v SET w = :v", "", nil, row{":v": s("x")}, "can only be used once"},
		{"no such attribute", "SET v = w", "", nil, nil, "attribute that does not exist in the item"},
		{"no such parent", "SET w.x = :v", "", nil, row{":v": s("x")}, "document path provided in the update expression is invalid"},
		{"text plus one", "SET v = name1 + :v", "", nil, row{":v": n("1")}, "incorrect data type"},
		{"legacy condition", "SET v = :v", "((a = :v))", nil, row{":v": s("x")}, "redundant parentheses"},
	}
	r.put(with("a", "1", "name1", s("x")))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := &dynamodb.UpdateItemInput{TableName: aws.String(tableName), Key: key("a", "1"), ExpressionAttributeNames: tt.names, ExpressionAttributeValues: tt.values}
			if tt.update != "" {
				in.UpdateExpression = &tt.update
			}
			if tt.condition != "" {
				in.ConditionExpression = &tt.condition
			}
			_, err := r.UpdateItem(t.Context(), in)
			wantError(t, err, "ValidationException", tt.message)
		})
	}
	diff(t, with("a", "1", "name1", s("x")), r.get("a", "1"))
}

func TestFaults(t *testing.T) {
	next := make(chan dynamo.Fault, 1)
	r := start(t, dynamo.Config{Fault: func(string, []byte) dynamo.Fault {
		select {
		case f := <-next:
			return f
		default:
			return dynamo.Fault{}
		}
	}})
	next <- dynamo.Fault{Code: "ThrottlingException", Message: "slow down"}
	_, err := r.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: key("a", "1")})
	wantError(t, err, "ThrottlingException", "slow down")
	if r.get("a", "1") != nil {
		t.Error("a throttled write was done")
	}
	next <- dynamo.Fault{DropAnswer: true}
	if _, err = r.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: key("a", "1")}); err == nil {
		t.Error("the answer was not lost")
	}
	diff(t, key("a", "1"), r.get("a", "1"))
}

func TestDescribe(t *testing.T) {
	r := start(t, dynamo.Config{})
	r.put(key("a", "1"))
	out, err := r.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: aws.String(tableName)})
	if err != nil {
		t.Fatal(err)
	}
	got := out.Table
	if *got.TableArn != "arn:aws:dynamodb:us-east-1:000000000000:table/rows" || *got.ItemCount != 1 || len(got.GlobalSecondaryIndexes) != 2 || len(got.AttributeDefinitions) != 5 {
		t.Errorf("table %+v", got)
	}
	list, err := r.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || cmp.Diff([]string{tableName}, list.TableNames) != "" {
		t.Errorf("tables %v, %v", list, err)
	}
	ttl, err := r.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(tableName)})
	if err != nil || *ttl.TimeToLiveDescription.AttributeName != "expiresAt" {
		t.Errorf("expiry %v, %v", ttl, err)
	}
	_, err = r.CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: aws.String(tableName), BackupName: aws.String("bbb")})
	wantError(t, err, "UnknownOperationException", "CreateBackup")
}

func TestChecksumAndRequestID(t *testing.T) {
	front, err := dynamo.Open(dynamo.Config{Tables: []sam.Table{spec()}})
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	for _, body := range []string{`{"TableName":"rows","Key":{"pk":{"S":"a"},"sk":{"S":"1"}}}`, `{"TableName":"none","Key":{}}`, `{`, `{"Legacy":1}`} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", dynamo.Target+"GetItem")
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		sum := fmt.Sprint(crc32.ChecksumIEEE(w.Body.Bytes()))
		if w.Header().Get("X-Amz-Crc32") != sum || w.Header().Get("X-Amzn-Requestid") == "" {
			t.Errorf("%s: headers %v, checksum %s", body, w.Header(), sum)
		}
	}
}

func TestReap(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	r := start(t, dynamo.Config{Now: func() time.Time { return now }})
	r.put(with("a", "old", "expiresAt", n("1799999000")), with("a", "fresh", "expiresAt", n("1799999900")),
		with("a", "text", "expiresAt", s("1")), with("a", "ancient", "expiresAt", n("1000")), key("a", "none"))
	if err := r.front.Reap(now); err != nil {
		t.Fatal(err)
	}
	for sk, there := range map[string]bool{"old": false, "fresh": true, "text": true, "ancient": true, "none": true} {
		if got := r.get("a", sk) != nil; got != there {
			t.Errorf("%s there: %v, want %v", sk, got, there)
		}
	}
}
