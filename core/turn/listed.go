package turn

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// keepListed adds to the begin of a turn that a session without a configuration stays in its owner's list for as long as it lives; once a
// day is enough. With one the list is renewed beside it.
func (o *owner) keepListed(ctx context.Context, begin session.Change, writes []store.Write) ([]store.Write, error) {
	day := func(s session.State) int64 { return s.ExpiresAt / (24 * 60 * 60) }
	if begin.To.Phase != session.Open || o.state.Mode != session.Chat || day(begin.From) == day(begin.To) {
		return writes, nil
	}
	if err := o.configure(ctx); err != nil || o.config.expires != 0 {
		return writes, err
	}
	return append(writes, store.PutListing(begin.To, "")), nil
}

// renewConfig keeps the configuration and the place in the owner's list as long as the session, at most once a day.
func (o *owner) renewConfig(ctx context.Context) {
	c := o.config
	if !c.read || c.expires == 0 || time.Unix(c.expires, 0).After(o.Now().Add(session.Life-24*time.Hour)) {
		return
	}
	o.config.read = false
	err := o.Table.Commit(ctx, store.KeepConfig(o.id, o.state.ExpiresAt), store.PutListing(o.state, c.Title), store.ChangeState(o.state.Alive()))
	if err != nil && !fault.Is(err, fault.Conflict) {
		o.log.WarnContext(ctx, "the configuration was not renewed", "error", err)
	}
}
