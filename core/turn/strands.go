package turn

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
)

// point moves LATEST to the newest segment, and writes the whole history beside it where the TypeScript package is to go on.
func (o *owner) point(ctx context.Context, writes []store.Write, tip string, s *snapshot.Segment) ([]store.Write, error) {
	if tip == "" {
		return writes, nil
	}
	if !o.Strands {
		return append(writes, store.PutLatest(o.id, tip, o.Now())), nil
	}
	if o.state.Tries > session.MaxTries { // loading the history may be what kills the workers
		return writes, nil
	}
	h, err := o.load(ctx)
	if err != nil {
		return nil, err
	}
	if s != nil {
		if h, err = h.Append(*s); err != nil {
			return nil, err
		}
	}
	whole := o.forPackage(h, tip)
	if err := whole.Err(); err != nil { // no reason not to end the turn: the package finds what there was before
		o.log.WarnContext(ctx, "the TypeScript package cannot go on with the conversation", "turn", o.state.TurnID(), "error", err)
		return writes, nil
	}
	return append(writes, whole, store.PutLatest(o.id, store.PackageSnapshotID, o.Now())), nil
}

// forPackage is the write of the whole history in the package's one row; of a shorter one where that does not fit.
func (o *owner) forPackage(h snapshot.History, tip string) store.Write {
	whole := snapshot.Strands{Messages: h.Messages, State: h.State, SystemPrompt: o.Instructions, CreatedAt: o.Now()}
	w := store.PutPackageSnapshot(o.id, tip, whole, o.Now())
	if w.Err() == nil {
		return w
	}
	if plan, ok := snapshot.Compact(h.Messages, maxPackageBytes, activations); ok {
		whole.Messages = plan.With("")
		w = store.PutPackageSnapshot(o.id, tip, whole, o.Now())
	}
	return w
}
