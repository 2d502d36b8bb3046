package turn_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// beforeState is a table of which the next read of a session's state waits for something.
type beforeState struct {
	store.API
	armed atomic.Bool
	do    func()
}

func (b *beforeState) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if sk, ok := in.Key[key.SK].(*types.AttributeValueMemberS); ok && strings.HasPrefix(sk.Value, key.StateSK) && b.armed.CompareAndSwap(true, false) {
		b.do()
	}
	return b.API.GetItem(ctx, in, o...)
}

// TestACallThatEndsWhileItIsAskedForAgain has one answer, also where its end falls between what the second reads.
func TestACallThatEndsWhileItIsAskedForAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := resting(t, ctx)
		began, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		p.Acting = func(tool.Context) {
			close(began)
			<-release
		}
		table := &beforeState{API: p.Engine.Table.DynamoDB, do: func() {
			close(release)
			<-ended
		}}
		p.Engine.Table.DynamoDB = table
		var first contract.ActionResult
		var err error
		go func() {
			defer close(ended)
			first, err = p.Engine.Call(ctx, delivered("d-1", "write_down", "a"))
		}()
		<-began
		table.armed.Store(true)
		again, errAgain := p.Engine.Call(ctx, delivered("d-1", "write_down", "a"))
		<-ended
		noError(t, err, errAgain, p.Check(id))
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("the second answer (-first +again):\n%s", diff)
		}
	})
}
