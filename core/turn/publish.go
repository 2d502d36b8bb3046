package turn

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// publish tells the session's channel what is new in the log. It is owed: what fails now is told by the next write of the owner, at its
// end, or by the sweep.
func (o *owner) publish(ctx context.Context) {
	if o.state.Channel == "" || o.told >= o.next {
		return
	}
	to, err := o.PublishEvents(ctx, o.state, o.told)
	if err != nil {
		o.log.WarnContext(ctx, "the channel was not told, the sweep will", "error", err)
		return
	}
	o.told = to
}

// publishLast tells the channel the rest and notes it, when the session was given up.
func (o *owner) publishLast(ctx context.Context) {
	o.publish(ctx)
	s := o.state
	known := !s.Owes() && (s.Phase == session.Parked || s.DueSK == "")
	if s.Channel == "" || !s.Rests() || known || o.told < s.NextIndex {
		return
	}
	change := s.Published(o.told)
	switch err := o.Table.Commit(ctx, store.ChangeState(change)); {
	case err == nil:
		o.state = change.To
	case !fault.Is(err, fault.Conflict): // else somebody is at it
		o.log.WarnContext(ctx, "the sweep will tell the channel again", "error", err)
	}
}
