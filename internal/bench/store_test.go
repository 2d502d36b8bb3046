package bench_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// nowhere takes every write: what is measured is what the store itself does.
type nowhere struct {
	store.API
	writes int
}

func (n *nowhere) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	n.writes++
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

func (n *nowhere) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	n.writes++
	return &dynamodb.PutItemOutput{}, nil
}

func (n *nowhere) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	n.writes++
	return &dynamodb.UpdateItemOutput{}, nil
}

func (n *nowhere) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, nil
}

// BenchmarkBegin is the transaction that opens a turn, without the service.
func BenchmarkBegin(b *testing.B) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	table := store.Table{Name: "table", DynamoDB: &nowhere{}}
	me := session.Me{Owner: "00000000-0000-4000-8000-000000000001", Fence: 7}
	s := session.New("s-1", session.Chat, contract.Principal{Type: contract.UserPrincipal, ID: "user-1"}, now).With(now)
	s.Owner, s.Fence = me.Owner, me.Fence
	received := flow.Event(s.SessionID, "turn_1", 1, now, contract.MessageReceived{Text: "hello", DeliveryIDs: []string{"d-1"}})
	segment := snapshot.Segment{ID: "01a22cfe-7270-74e4-8935-d2841ce23674", Messages: []model.Message{model.Text(model.User, "hello")}}
	b.ReportAllocs()
	for b.Loop() {
		change := s.Begin(me, session.Opening{To: 1}, session.Progress{Tip: segment.ID, NextIndex: 3}, now)
		err := table.Commit(b.Context(), store.NewSegment(s.SessionID, segment, now),
			store.NewEvents(s.SessionID, me, []contract.SessionEvent{received}, now.Unix()), store.TakeMessage(s.SessionID, 1), store.ChangeState(change))
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClaim claims and finishes a task, without the service.
func BenchmarkClaim(b *testing.B) {
	table := store.Table{Name: "table", DynamoDB: &nowhere{}}
	r := task.Request{TaskID: "t-1", Request: "do it", Principal: task.System("bench")}
	b.ReportAllocs()
	for b.Loop() {
		claimed, err := table.StartTask(b.Context(), r, task.Claim{Owner: "o", DeliveryID: "d", Lease: task.Lease})
		if err == nil {
			err = table.FinishTask(b.Context(), claimed, task.Result{TaskID: "t-1", Status: task.Completed, Output: "ok"})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
