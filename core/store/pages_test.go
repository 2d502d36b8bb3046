package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// hollow puts an empty page with a key to go on from before every page of a query, as the service may.
type hollow struct{ store.API }

const nowhere = "nowhere"

func (h hollow) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	mark, ok := in.ExclusiveStartKey[nowhere]
	if !ok {
		key := row{nowhere: &types.AttributeValueMemberBOOL{Value: true}}
		if in.ExclusiveStartKey != nil {
			key[nowhere] = &types.AttributeValueMemberM{Value: in.ExclusiveStartKey}
		}
		return &dynamodb.QueryOutput{LastEvaluatedKey: key}, nil
	}
	real := *in
	real.ExclusiveStartKey = nil
	if from, ok := mark.(*types.AttributeValueMemberM); ok {
		real.ExclusiveStartKey = from.Value
	}
	return h.API.Query(ctx, &real, o...)
}

func TestP23EmptyPagesEndNothing(t *testing.T) {
	b := openFake(t)
	all := b.log(t)
	b.commit(t, store.PutListing(session.New("s", session.Chat, user, b.clock.Now()), "Demo"), store.NewMessage("s", store.Message{Number: 1}),
		store.NewMessage("s", store.Message{Number: 2}), store.NewState(session.New("s", session.Chat, user, b.clock.Now()).With(b.clock.Now())))
	b.limitPages(1)
	b.DynamoDB = hollow{b.raw}
	for from := range len(all) {
		if got := b.read(t, "s", int64(from)); len(got) != len(all)-from {
			t.Errorf("from %d: %d events, want %d", from, len(got), len(all)-from)
		}
	}
	if ids, _ := b.list(t, 5); !slices.Equal(ids, []string{"s"}) {
		t.Errorf("Sessions = %v, want s", ids)
	}
	if list, err := b.Inbox(t.Context(), "s", 1, 2); err != nil || len(list) != 2 {
		t.Errorf("Inbox = %v, %v; want two messages", list, err)
	}
	if got := b.due(t, b.clock.Now().Add(time.Hour), 5); len(got) != 1 {
		t.Errorf("Due = %v, want the session", got)
	}
	if err := b.Purge(t.Context(), "s", store.Purging{}); err != nil {
		t.Fatal(err)
	}
	b.DynamoDB = b.raw
	if rows := b.partition(t, key.SessionPK("s")); !slices.Equal(rows, []string{"STATE"}) {
		t.Errorf("after Purge: %v", rows)
	}
}
