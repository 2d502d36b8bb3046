package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// door is the AWS endpoint as an outside program uses it.
type door struct {
	url    string
	db     *dynamodb.Client
	table  store.Table
	events *eventbridge.Client
}

func doorOf(info cloud.Info) door {
	config := aws.Config{
		Region: info.Region, BaseEndpoint: aws.String(info.AWS), Credentials: credentials.NewStaticCredentialsProvider("outside", "secret", ""),
	}
	db := dynamodb.NewFromConfig(config)
	return door{info.AWS, db, store.Table{Name: info.Table, DynamoDB: db}, eventbridge.NewFromConfig(config)}
}

// rows scans the whole table: key -> attributes.
func (d door) rows(t *testing.T) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	in := &dynamodb.ScanInput{TableName: &d.table.Name, ConsistentRead: aws.Bool(true)}
	for pages := dynamodb.NewScanPaginator(d.db, in); pages.HasMorePages(); {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			row := map[string]any{}
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				t.Fatal(err)
			}
			out[fmt.Sprint(row["pk"], " ", row["sk"])] = row
		}
	}
	return out
}

// under names the rows of one partition by their sort keys.
func (d door) under(t *testing.T, pk string) []string {
	t.Helper()
	var out []string
	for _, row := range d.rows(t) {
		if row["pk"] == pk {
			out = append(out, row["sk"].(string))
		}
	}
	slices.Sort(out)
	return out
}

// owed names the rows that owe something, except tombstones, which are due until no worker of before can live.
func (d door) owed(t *testing.T) []string {
	t.Helper()
	var out []string
	for k, row := range d.rows(t) {
		if row["duePk"] != nil && row["phase"] != string(session.Deleted) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// sweep runs the recovery sweep now.
func (d door) sweep(t *testing.T) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/2015-03-31/functions/recover/invocations", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := send(t, req); got.status != 200 || strings.Contains(got.body, "errorMessage") {
		t.Fatalf("the sweep = %+v", got)
	}
}

// rest waits until nothing is owed, sweeping.
func (d door) rest(t *testing.T) {
	t.Helper()
	var owed []string
	defer func() {
		if len(owed) > 0 {
			t.Logf("owed: %q", owed)
		}
	}()
	eventually(t, "nothing to be owed", func() bool {
		d.sweep(t)
		owed = d.owed(t)
		return len(owed) == 0
	})
}

// anHourLater makes what a session's dead owner left behind old enough to be taken over: its lease has ended and it is due.
func (d door) anHourLater(t *testing.T, sessionID string) {
	t.Helper()
	if os.Getenv("SOAK") != "" {
		d.takenOver(t, sessionID)
		return
	}
	then := time.Now().Add(-time.Hour).UnixMilli()
	d.set(t, key.State(sessionID), "attribute_exists(#owner)", map[string]any{"leaseUntil": then, key.DueSKName: key.DueSK(then)})
}

// takenOver waits, in real time, until sweeps alone have brought another owner.
func (d door) takenOver(t *testing.T, sessionID string) {
	t.Helper()
	dead, err := d.table.State(t.Context(), sessionID)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Minute); ; time.Sleep(time.Second) { // the waits between triggers double
		d.sweep(t)
		state, err := d.table.State(t.Context(), sessionID)
		if err == nil && (state.Fence > dead.Fence || state.Owner == "") {
			t.Logf("%s was taken over %v after its owner's lease had ended", sessionID, time.Since(time.UnixMilli(dead.LeaseUntil)).Round(time.Second))
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody took over %s: %+v, %v", sessionID, state, err)
		}
	}
}

// set changes attributes of a row, as an operator or time itself would. condition may name the attribute #owner.
func (d door) set(t *testing.T, k key.Key, condition string, attributes map[string]any) {
	t.Helper()
	in := &dynamodb.UpdateItemInput{
		TableName: &d.table.Name, Key: keyOf(k), ConditionExpression: &condition,
		ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: map[string]types.AttributeValue{},
	}
	if strings.Contains(condition, "#owner") {
		in.ExpressionAttributeNames["#owner"] = "owner"
	}
	var sets []string
	for name, v := range attributes {
		value, err := attributevalue.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		n := fmt.Sprint(len(sets))
		sets = append(sets, "#a"+n+" = :v"+n)
		in.ExpressionAttributeNames["#a"+n], in.ExpressionAttributeValues[":v"+n] = name, value
	}
	in.UpdateExpression = aws.String("SET " + strings.Join(sets, ", "))
	if _, err := d.db.UpdateItem(t.Context(), in); err != nil {
		t.Fatalf("set %v of %v: %v", attributes, k, err)
	}
}

func keyOf(k key.Key) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{key.PK: &types.AttributeValueMemberS{Value: k.PK}, key.SK: &types.AttributeValueMemberS{Value: k.SK}}
}

// insert puts a row.
func (d door) insert(t *testing.T, row map[string]types.AttributeValue) {
	t.Helper()
	if _, err := d.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &d.table.Name, Item: row}); err != nil {
		t.Fatal(err)
	}
}

// remove deletes a row.
func (d door) remove(t *testing.T, k key.Key) {
	t.Helper()
	if _, err := d.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &d.table.Name, Key: keyOf(k)}); err != nil {
		t.Fatal(err)
	}
}

// overdue makes a row due for the sweep since an hour.
func (d door) overdue(t *testing.T, k key.Key, more map[string]any) {
	t.Helper()
	attributes := map[string]any{key.DuePKName: key.DuePK(k.PK), key.DueSKName: key.DueSK(time.Now().Add(-time.Hour).UnixMilli())}
	maps.Copy(attributes, more)
	d.set(t, k, "attribute_exists(pk)", attributes)
}

// put puts an event on the bus as an outside program does, with the source of the stack.
func (d door) put(t *testing.T, detailType, detail string, times int) {
	t.Helper()
	in := &eventbridge.PutEventsInput{}
	for range times {
		in.Entries = append(in.Entries, eventtypes.PutEventsRequestEntry{
			Source: aws.String(contract.Source), DetailType: &detailType, Detail: &detail,
		})
	}
	out, err := d.events.PutEvents(t.Context(), in)
	if err != nil || out.FailedEntryCount != 0 {
		t.Fatalf("put %s: %+v, %v", detailType, out, err)
	}
}
