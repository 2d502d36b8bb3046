package turn_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestASessionThatLivesIsListed: however it began, its owner finds it in the list for as long as somebody speaks in it.
func TestASessionThatLivesIsListed(t *testing.T) {
	begins := map[string]func(ctx context.Context, s *stage.Stage) (string, error){
		"with a configuration": func(ctx context.Context, s *stage.Stage) (string, error) {
			_, err := flow.CreateSession{Edges: s.Edges}.Do(ctx, flow.CreateSessionIn{Config: session.Config{SessionID: id, UserID: stage.User.ID}})
			return id, err
		},
		"with its first message": func(context.Context, *stage.Stage) (string, error) { return id, nil },
		"in a channel": func(ctx context.Context, s *stage.Stage) (string, error) {
			got, err := flow.Receive{Edges: s.Edges}.Do(ctx, flow.ReceiveIn{Channel: "gh", Caller: stage.User, Message: contract.Message{Text: "hello", ContinuationToken: "pr:1"}})
			return got.SessionID, err
		},
	}
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				session, err := begin(ctx, s)
				must(t, err)
				for day := range 10 {
					_, err := s.Send(ctx, session, fmt.Sprint("day ", day))
					must(t, err, s.Rest(ctx, session), s.Check(session))
					s.Clock.Advance(25 * 24 * time.Hour)
					list, err := flow.ListSessions{Edges: s.Edges}.Do(ctx, flow.ListSessionsIn{Caller: stage.User})
					if must(t, err); len(list.Sessions) != 1 || list.Sessions[0].SessionID != session {
						t.Fatalf("after %d days the list is %v", 25*(day+1), list.Sessions)
					}
				}
			})
		})
	}
}

// TestAConfigurationThatCannotBeReadStopsNoBegin: the turn begins, and ends as one that cannot be run.
func TestAConfigurationThatCannotBeReadStopsNoBegin(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say(t, ctx, s, "hello")
		s.Clock.Advance(48 * time.Hour)
		_, err := s.Dynamo.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("table"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: key.Config(id).PK}, "sk": &types.AttributeValueMemberS{Value: key.Config(id).SK},
			"userId": &types.AttributeValueMemberS{Value: stage.User.ID}, "maxTokens": &types.AttributeValueMemberS{Value: "many"},
		}})
		must(t, err)
		_, err = s.Send(ctx, id, "/and now?")
		must(t, err)
		for range 12 { // each delivery fails until the turn is given up
			_ = s.Recover(ctx)
		}
		if got := told(t, s, id, "turn.failed"); len(got) != 1 || s.State(id).Phase != session.Idle {
			t.Errorf("failed: %v, the session is %s", got, s.State(id).Phase)
		}
	})
}
