package turn

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// day is how often what lives beside a session's state is renewed, in seconds.
const day = 24 * 60 * 60

// keepBeside adds to a change that has the session live for longer what lives beside it: its place in its owner's list and, if it has one,
// its configuration. Once a day is enough.
func (o *owner) keepBeside(ctx context.Context, c session.Change, writes []store.Write) ([]store.Write, error) {
	if o.state.Mode != session.Chat || c.From.ExpiresAt/day == c.To.ExpiresAt/day {
		return writes, nil
	}
	if ok, err := o.configured(ctx); !ok {
		return writes, err
	}
	if o.config.expires != 0 {
		writes = append(writes, store.KeepConfig(o.id, c.To.ExpiresAt+day)) // the session may live a little longer than is known here
	}
	return append(writes, store.PutListing(c.To, o.config.Title)), nil
}
