package turn

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// commitEnd is commit for the end of a turn. When its outcome is not known the row is asked: who follows the turn has to be told of
// its end by the owner that wrote it, since nobody else will.
func (o *owner) commitEnd(ctx context.Context, c session.Change, writes ...store.Write) error {
	err := o.commit(ctx, c, false, writes...)
	if err == nil || !fault.Retryable(err) || ctx.Err() != nil {
		return err
	}
	s, readErr := o.Table.State(ctx, o.id)
	// Nobody but this owner moves the index under its fence, and nothing but this write to this one out of the open turn.
	if readErr != nil || s.Fence != o.me.Fence || s.NextIndex != c.To.NextIndex || s.Phase != c.To.Phase {
		return err
	}
	o.state = s
	return nil
}
