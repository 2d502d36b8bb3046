package bedrock

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// stream asks with ConverseStream. The patience for the beginning of an answer is the same as for its next event.
func (m Model) stream(ctx context.Context, in *bedrockruntime.ConverseStreamInput, yield func(model.Event, error) bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begin := time.AfterFunc(m.stall(), func() { cancel(stalled(m.stall())) })
	out, err := m.Client.ConverseStream(ctx, in, careful)
	begin.Stop()
	if err != nil {
		yield(nil, failure(ctx, *in.ModelId, err))
		return
	}
	stream := out.GetStream()
	defer stream.Close()
	n := &normalizer{log: m.log().With("model", *in.ModelId), emit: yield}
	err = m.read(ctx, stream.Events(), n)
	if n.left {
		return
	}
	if err == nil {
		err = stream.Err()
	}
	if err != nil {
		err = failure(ctx, *in.ModelId, err)
	}
	n.end(err)
}

// read hands events on until they end, the reader leaves, or none comes for too long.
func (m Model) read(ctx context.Context, events <-chan types.ConverseStreamOutput, n *normalizer) error {
	patience := m.stall()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for !n.left {
		select {
		case e, open := <-events:
			if !open {
				return nil
			}
			n.take(e)
			if n.stopped {
				patience = min(patience, settle)
			}
			timer.Reset(patience)
		case <-timer.C:
			return stalled(patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func stalled(patience time.Duration) error {
	return fault.New(fault.Unavailable, "the model said nothing for %s", patience).Because("stream_stalled")
}
