package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestP01ADamagedHistoryIsRepairedOnce: the repair is saved with the next message; later readers find nothing to repair.
func TestP01ADamagedHistoryIsRepairedOnce(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say(t, ctx, s, "hello")
		damaged := snapshot.Segment{ID: snapshot.NextID(s.Clock.Now(), s.State(id).Tip, [16]byte{1}), Base: s.State(id).Tip, Messages: []model.Message{
			{Role: model.User, Content: []model.Block{{Text: " \n "}}},
			{Role: model.Assistant, Content: []model.Block{{ToolUse: &model.ToolUse{ID: "a", Name: "look up!", Input: []byte(`null`)}}}},
			{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: "nobody's"}}, {Text: "so?"}}},
			{Role: model.Assistant},
		}}
		must(t, s.Edges.Table.Commit(ctx, store.NewSegment(id, damaged, s.Clock.Now())))
		name, state := "table", key.State(id)
		_, err := s.Dynamo.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &name, UpdateExpression: new("SET tip = :t"), ExpressionAttributeValues: map[string]types.AttributeValue{":t": &types.AttributeValueMemberS{Value: damaged.ID}},
			Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: state.PK}, "sk": &types.AttributeValueMemberS{Value: state.SK}},
		})
		must(t, err)
		s.Engine.Remembered = &turn.Memory{}
		say(t, ctx, s, "and now?")
		first := sent(lastRequest(s))
		if fixed, changed := snapshot.Repair(stored(t, s).Messages); changed {
			t.Errorf("what is stored still needs a repair: %v", fixed)
		}
		if h := stored(t, s); h.Segments != 2 {
			t.Errorf("read from %d segments, want the repaired one and the answer", h.Segments)
		}
		s.Engine.Remembered = &turn.Memory{}
		say(t, ctx, s, "and then?")
		second := sent(lastRequest(s))
		if diff := cmp.Diff(first, second[:len(first)]); diff != "" {
			t.Errorf("the second restore sends another history (-first +second):\n%s", diff)
		}
		if h := stored(t, s); h.Segments != 4 {
			t.Errorf("read from %d segments: it was written anew", h.Segments)
		}
	})
}

// TestAHistoryIsReadFromFewRows: after so many pieces it is one again, and nothing is lost; so is one whose first rows get old.
func TestAHistoryIsReadFromFewRows(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Watch.Off = true
		most := 0
		for i := range 250 {
			_, err := s.Send(ctx, id, fmt.Sprint("message ", i))
			must(t, err, s.Drain(ctx))
			if i%7 == 0 {
				s.Engine.Remembered = &turn.Memory{}
			}
			most = max(most, stored(t, s).Segments)
		}
		h := stored(t, s)
		if most > 202 || len(h.Messages) != 500 || h.Messages[0].PlainText() != "message 0" {
			t.Errorf("%d messages, read from up to %d segments", len(h.Messages), most)
		}
	})
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		for range 30 {
			_, err := s.Send(ctx, id, "hello")
			must(t, err, s.Rest(ctx, id))
			s.Clock.Advance(session.Life - time.Hour)
		}
		h := stored(t, s)
		first, _ := snapshot.Time(h.First)
		if age := s.Clock.Now().Sub(first); len(h.Messages) != 60 || age > session.RowLife*3/4 {
			t.Errorf("%d messages, the oldest row of %v ago", len(h.Messages), age)
		}
	})
}

// TestAConversationStaysWithinThePackagesRow: where the TypeScript package is to go on, a conversation never outgrows the one row it keeps.
func TestAConversationStaysWithinThePackagesRow(t *testing.T) {
	bubble(t, summing(func(req model.Request) fake.Turn { return fake.Say(strings.Repeat("answer ", 2000)) }), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Watch.Off = true
		s.Engine.Strands = true
		for i := range 60 {
			_, err := s.Send(ctx, id, fmt.Sprint("message ", i))
			must(t, err, s.Drain(ctx))
		}
		must(t, s.Check(id))
		if n := len(told(t, s, id, "turn.completed")); n != 60 {
			t.Errorf("%d turns are complete, want 60", n)
		}
		h, tip, err := s.Edges.Table.PackageSnapshot(ctx, id)
		must(t, err)
		if first := h.Messages[0].PlainText(); tip != s.State(id).Tip || !strings.HasPrefix(first, "<summary_of") {
			t.Errorf("the package reads, at %q, a conversation that begins %.40q", tip, first)
		}
	})
}
