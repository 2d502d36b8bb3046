package turn_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// silent is a table that does not answer while it is on.
type silent struct {
	store.API
	on atomic.Bool
}

func (s *silent) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if s.on.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.API.GetItem(ctx, in, o...)
}

func (s *silent) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if s.on.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.API.UpdateItem(ctx, in, o...)
}

// TestATableThatSaysNothing: a worker whose look at its row is never answered stops its tools when its lease is over by its own clock,
// since another may run them then.
func TestATableThatSaysNothing(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		table := &silent{API: s.Engine.Table.DynamoDB}
		s.Engine.Table.DynamoDB = table
		var once sync.Once
		var took time.Duration
		s.Acting = func(ctx tool.Context) {
			if ctx.ToolUseID != "call_11" {
				return
			}
			once.Do(func() {
				began := time.Now()
				table.on.Store(true)
				takes(ctx, time.Hour)
				table.on.Store(false)
				took = time.Since(began)
			})
		}
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Rest(ctx, id), s.Check(id))
		if most := session.Lease - session.Margin + time.Second; took > most {
			t.Errorf("the tool ran on for %s, want at most %s", took, most)
		}
		if got := len(told(t, s, id, "turn.completed")); got != 1 {
			t.Errorf("%d turns are complete", got)
		}
	})
}
