package store_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// long is text that cannot be packed into a row.
func long() string {
	noise := make([]byte, 400_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	return hex.EncodeToString(noise)
}

// partsOf are the keys of the rows that hold parts of a head.
func partsOf(t *testing.T, b bench, head key.Key) (all []string) {
	t.Helper()
	out, err := b.raw.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &b.Name, KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :sk)"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": &types.AttributeValueMemberS{Value: head.PK}, ":sk": &types.AttributeValueMemberS{Value: key.PartsOf(head)},
		},
		ProjectionExpression: aws.String("sk"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range out.Items {
		all = append(all, row["sk"].(*types.AttributeValueMemberS).Value)
	}
	return all
}

func TestRewriteEvents(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx, me := context.Background(), session.Me{Owner: "o", Fence: 3}
		for first, texts := range map[int64][]string{0: {"kept"}, 1: {"kept too", long()}, 3: {"short"}} {
			if err := b.Commit(ctx, store.NewEvents("s", me, events(first, texts...), b.Now().Add(time.Hour).Unix())); err != nil {
				t.Fatal(err)
			}
		}
		clear := func(e *contract.SessionEvent) {
			if e.Index >= 2 {
				e.Data = json.RawMessage(`{"delta":"-"}`)
			}
		}
		before, err := b.EventRow(ctx, "s", 1)
		if err != nil {
			t.Fatal(err)
		}
		for round := range 2 { // the second time there is nothing to do
			writes, err := b.RewriteEvents(ctx, "s", 2, clear)
			if err != nil || round == 1 && len(writes) > 0 {
				t.Fatalf("round %d: %d writes, %v", round, len(writes), err)
			}
			if round == 0 {
				if err := b.Commit(ctx, writes...); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []string
		for e, err := range b.SessionEvents(ctx, "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(e.Index, " ", string(e.Data)))
		}
		want := []string{`0 {"delta":"kept"}`, `1 {"delta":"kept too"}`, `2 {"delta":"-"}`, `3 {"delta":"-"}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if after, err := b.EventRow(ctx, "s", 1); err != nil || after != before {
			t.Errorf("the row %+v became %+v, %v", before, after, err)
		}
		if n := len(partsOf(t, b, key.Event("s", 1))); n > 0 {
			t.Errorf("%d parts of what is gone are left", n)
		}
	})
}

func TestRewriteSegments(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := context.Background()
		say := func(id, base, text string) {
			t.Helper()
			segment := snapshot.Segment{ID: id, Base: base, Messages: []model.Message{model.Text(model.User, text)}}
			if err := b.Commit(ctx, store.NewSegment("s", segment, b.Now())); err != nil {
				t.Fatal(err)
			}
		}
		say("a", "", "before")
		say("b", "a", long())
		say("c", "b", "secret")
		writes, err := b.RewriteSegments(ctx, "s", "b", "c", snapshot.Withhold)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(ctx, writes...); err != nil {
			t.Fatal(err)
		}
		h, err := b.History(ctx, "s", "c")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range h.Messages {
			got = append(got, m.PlainText())
		}
		if diff := cmp.Diff([]string{"before", snapshot.Withheld, snapshot.Withheld}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if n := len(partsOf(t, b, key.Snapshot("s", "b"))); n > 0 {
			t.Errorf("%d parts of what is gone are left", n)
		}
	})
}

func TestRewriteInputsAndDropDetail(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := context.Background()
		for turn, id := range []string{"other", "mine"} {
			a := session.Approval{SessionID: "s", ActionID: id, TurnSeq: int64(turn), Tool: "pay", Status: session.Pending, RequestedAt: 1, ExpiresAt: b.Now().Add(time.Hour).Unix()}
			if err := b.Commit(ctx, store.NewApproval(a, json.RawMessage(`{"to":"`+id+`"}`))); err != nil {
				t.Fatal(err)
			}
		}
		writes, err := b.RewriteInputs(ctx, "s", 1)
		if err != nil || len(writes) != 1 {
			t.Fatalf("%d writes, %v", len(writes), err)
		}
		if err := b.Commit(ctx, writes...); err != nil {
			t.Fatal(err)
		}
		all, err := b.Approvals(ctx, "s")
		if err != nil || len(all) != 2 || string(all[0].Input) != "{}" || string(all[1].Input) != `{"to":"other"}` {
			t.Errorf("approvals %+v, %v", all, err)
		}

		created, err := b.CreateTask(ctx, task.Request{TaskID: "t", Principal: task.User("u"), Request: "r", SystemPrompt: long(), DeliveryID: "d"})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(partsOf(t, b, key.Task("t"))); n == 0 {
			t.Fatal("the task's detail has no parts")
		}
		if err := b.Commit(ctx, store.DropDetail(created)...); err != nil {
			t.Fatal(err)
		}
		if n := len(partsOf(t, b, key.Task("t"))); n > 0 {
			t.Errorf("%d parts of the detail are left", n)
		}
		if w := store.DropDetail(task.Task{TaskID: "t", Detail: "short"}); w != nil {
			t.Errorf("a short detail has %d parts", len(w))
		}
	})
}

func TestDropFiles(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := context.Background()
		large := long()
		for _, f := range []struct {
			turn    int64
			path    string
			content string
		}{{0, "of none", "a"}, {3, "before", "b"}, {4, "first", large}, {4, "first#1", "c"}, {7, "later", "d"}, {7, "before, and again", "e"}, {3, "before, and again", "f"}} {
			if err := b.PutFileOf(ctx, "s", f.turn, f.path, f.content, 0); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // who finds nothing removes nothing
			writes, err := b.DropFiles(ctx, "s", 4)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range writes {
				if err := b.Commit(ctx, w); err != nil {
					t.Fatal(err)
				}
			}
		}
		files, err := b.Files(ctx, "s")
		want := []contract.FileInfo{{Path: "before", Bytes: 1}, {Path: "before, and again", Bytes: 1}, {Path: "of none", Bytes: 1}}
		if diff := cmp.Diff(want, files); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if n := len(b.partition(t, key.SessionPK("s"))); n != len(want) {
			t.Errorf("%d rows, want %d", n, len(want))
		}
	})
}
