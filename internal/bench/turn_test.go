package bench_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"

	"github.com/steadfast-agents/steadfast/core/flow"
)

// sink is a connection in the process. It notes when it was first sent a piece of text, which is its second frame.
type sink struct {
	frames int
	text   time.Time
}

func (s *sink) PostToConnection(context.Context, *apigatewaymanagementapi.PostToConnectionInput, ...func(*apigatewaymanagementapi.Options)) (*apigatewaymanagementapi.PostToConnectionOutput, error) {
	if s.frames++; s.frames == 2 {
		s.text = time.Now()
	}
	return &apigatewaymanagementapi.PostToConnectionOutput{}, nil
}

// BenchmarkTurn is a turn of 200 tokens of a session that is followed and remembered, with a model and a table that answer at
// once: from the message to the end of the turn.
func BenchmarkTurn(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			w, s := newWorld(kind.say, kind.tools...), &sink{}
			w.engine.Sockets.Connections = s
			follow := flow.Chat{Edges: w.engine.Edges}
			if err := follow.Follow(b.Context(), flow.Socket{ConnectionID: "c-1", ConnectedAt: time.Now()}, flow.SessionOf{SessionID: sessionID, Caller: user}); err != nil {
				b.Fatal(err)
			}
			var posts int
			var first time.Duration
			b.ReportAllocs()
			for b.Loop() {
				*s = sink{}
				begun := time.Now()
				w.turn(b)
				posts += s.frames
				first += s.text.Sub(begun)
			}
			b.ReportMetric(float64(posts)/float64(b.N), "posts/turn")
			b.ReportMetric(float64(first.Microseconds())/float64(b.N), "first-token-us")
		})
	}
}

// TestPosts: an answer of 200 tokens that comes at once is a few posts, and the first piece of text does not wait for others.
func TestPosts(t *testing.T) {
	w, s := newWorld(plain), &sink{}
	w.engine.Sockets.Connections = s
	follow := flow.Chat{Edges: w.engine.Edges}
	if err := follow.Follow(t.Context(), flow.Socket{ConnectionID: "c-1", ConnectedAt: time.Now()}, flow.SessionOf{SessionID: sessionID, Caller: user}); err != nil {
		t.Fatal(err)
	}
	w.turn(t)
	if s.frames < 4 || s.frames > 30 {
		t.Errorf("%d posts for an answer of 200 tokens, want its beginning, text and end in at most 30", s.frames)
	}
}
