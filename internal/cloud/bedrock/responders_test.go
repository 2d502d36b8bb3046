package bedrock_test

import (
	"context"
	"iter"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// gated holds its second piece back until it is closed.
type gated chan struct{}

func (g gated) Respond(context.Context, bedrock.Request) iter.Seq2[bedrock.Part, error] {
	return func(yield func(bedrock.Part, error) bool) {
		if yield(bedrock.Text("first piece"), nil) {
			<-g
			yield(bedrock.Text("second piece"), nil)
		}
	}
}

// endless says one piece, waits for the client to go, and reports why it ended.
type endless chan error

func (e endless) Respond(ctx context.Context, _ bedrock.Request) iter.Seq2[bedrock.Part, error] {
	return func(yield func(bedrock.Part, error) bool) {
		yield(bedrock.Text("x"), nil)
		<-ctx.Done()
		e <- ctx.Err()
	}
}
