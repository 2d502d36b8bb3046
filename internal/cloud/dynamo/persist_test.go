package dynamo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

func TestRestartAfterKill(t *testing.T) {
	data := t.TempDir()
	r := start(t, dynamo.Config{Data: data})
	r.put(with("a", "1", "n1", n("1"), "duePk", s("d"), "dueSk", s("1")), key("a", "gone"), key("b", "1"))
	if _, err := r.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(tableName), Key: key("a", "gone")}); err != nil {
		t.Fatal(err)
	}
	update := &dynamodb.UpdateItemInput{TableName: aws.String(tableName), Key: key("a", "1"), UpdateExpression: aws.String("ADD n1 :n"), ExpressionAttributeValues: row{":n": n("1")}}
	if _, err := r.UpdateItem(t.Context(), update); err != nil {
		t.Fatal(err)
	}
	// No Close: what follows sees the file as kill -9 leaves it, with the last write cut off in the middle.
	if _, err := r.UpdateItem(t.Context(), update); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "dynamodb.log")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.WriteFile(filepath.Join(copied, "dynamodb.log"), b[:len(b)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	again := start(t, dynamo.Config{Data: copied})
	diff(t, with("a", "1", "n1", n("2"), "duePk", s("d"), "dueSk", s("1")), again.get("a", "1"))
	if again.get("a", "gone") != nil || again.get("b", "1") == nil {
		t.Error("deleted row is back, or another is lost")
	}
	out, err := again.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String(tableName), IndexName: aws.String("due"),
		KeyConditionExpression: aws.String("duePk = :d"), ExpressionAttributeValues: row{":d": s("d")}})
	if err != nil || out.Count != 1 {
		t.Errorf("index after restart %+v, %v", out, err)
	}
}

func TestDamagedJournalIsOneError(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, "dynamodb.log")
	if err := os.WriteFile(path, []byte("00000000 {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := dynamo.Open(dynamo.Config{Tables: []sam.Table{spec()}, Data: data})
	if err == nil || !strings.Contains(err.Error(), path+" is damaged at line 1") {
		t.Errorf("Open = %v", err)
	}
}

func TestRowsOfADroppedTableComeBack(t *testing.T) {
	data := t.TempDir()
	r := start(t, dynamo.Config{Data: data})
	r.put(key("a", "1"))
	r.front.Close()
	other := spec()
	other.Name = "other"
	r = start(t, dynamo.Config{Data: data, Tables: []sam.Table{other}})
	r.front.Close()
	r = start(t, dynamo.Config{Data: data})
	diff(t, key("a", "1"), r.get("a", "1"))
}

// TestParallelClients is for the race detector, and shows that no increment is lost between memory and journal.
func TestParallelClients(t *testing.T) {
	data := t.TempDir()
	r := start(t, dynamo.Config{Data: data})
	const workers, each = 8, 25
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				_, err := r.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
					putOf(with("w", fmt.Sprintf("%d-%d", w, i), "g", s("all")), "attribute_not_exists(pk)"),
					{Update: &types.Update{TableName: aws.String(tableName), Key: key("sum", "1"), UpdateExpression: aws.String("ADD n1 :n"), ExpressionAttributeValues: row{":n": n("1")}}},
				}})
				if err != nil {
					t.Error(err)
				}
				if _, err := r.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String(tableName), IndexName: aws.String("all"),
					KeyConditionExpression: aws.String("g = :g"), ExpressionAttributeValues: row{":g": s("all")}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	again := start(t, dynamo.Config{Data: data})
	diff(t, n(fmt.Sprint(workers*each)), again.get("sum", "1")["n1"])
	out, err := again.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(tableName), Select: types.SelectCount})
	if err != nil || out.Count != workers*each+1 {
		t.Errorf("rows %+v, %v", out, err)
	}
}

func TestJournalIsCompacted(t *testing.T) {
	data := t.TempDir()
	r := start(t, dynamo.Config{Data: data})
	r.put(key("a", "kept"))
	for i := range 12 {
		r.put(with("a", "1", "v", s(strings.Repeat("x", 200<<10)), "i", n(fmt.Sprint(i))))
	}
	info, err := os.Stat(filepath.Join(data, "dynamodb.log"))
	if err != nil || info.Size() > 1500<<10 {
		t.Errorf("journal of 2.4 MB of writes to one row has %d bytes (%v)", info.Size(), err)
	}
	again := start(t, dynamo.Config{Data: data})
	diff(t, n("11"), again.get("a", "1")["i"])
	diff(t, key("a", "kept"), again.get("a", "kept"))
}
