package store

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/key"
)

// Purge deletes every row of a session's partition but its state, however many there are. keep, if not nil, is asked before an
// inbox row goes. Repeating it is harmless. Faults: Unavailable.
func (t Table) Purge(ctx context.Context, sessionID string, before func(context.Context, Message) error) error {
	for row, err := range t.query(ctx, scope{pk: key.SessionPK(sessionID)}) {
		if err != nil {
			return err
		}
		k := keyOf(row)
		if k.SK == key.StateSK {
			continue
		}
		if kind, _ := key.Parse(k); kind.Kind == "inbox" && before != nil {
			var m Message
			if err := decode(row, &m); err != nil {
				return err
			}
			if err := before(ctx, m); err != nil {
				return err
			}
		}
		if err := t.Commit(ctx, remove(k)); err != nil {
			return err
		}
	}
	return nil
}
