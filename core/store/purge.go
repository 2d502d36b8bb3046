package store

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/key"
)

// Purging says what a Purge spares and asks.
type Purging struct {
	Keep     func(sk string) bool                       // rows that stay; nil: none but the state
	Before   func(context.Context, Message) error       // called with each waiting message before it goes; nil: nothing
	Reminder func(ctx context.Context, id string) error // called with each reminder before its pointer goes; nil: nothing
	Dead     bool                                       // every removal asks that there is no state: a session that begins anew is not touched
}

// Purge deletes every row of a session's partition but its state, however many there are. Repeating it is harmless. Faults:
// Conflict when Dead and there is a state again, Unavailable.
func (t Table) Purge(ctx context.Context, sessionID string, p Purging) error {
	for row, err := range t.query(ctx, scope{pk: key.SessionPK(sessionID)}) {
		if err != nil {
			return err
		}
		k := keyOf(row)
		if k.SK == key.StateSK || p.Keep != nil && p.Keep(k.SK) {
			continue
		}
		if err := p.before(ctx, k, row); err != nil {
			return err
		}
		writes := []Write{remove(k)}
		if p.Dead {
			writes = append(writes, CheckNoState(sessionID))
		}
		if err := t.Commit(ctx, writes...); err != nil {
			return err
		}
	}
	return nil
}

func (p Purging) before(ctx context.Context, k key.Key, row item) error {
	parsed, _ := key.Parse(k)
	switch {
	case parsed.Kind == "session reminder" && p.Reminder != nil:
		return p.Reminder(ctx, parsed.Parts[1])
	case parsed.Kind == "inbox" && p.Before != nil:
		var m Message
		if err := decode(row, &m); err != nil {
			return err
		}
		return p.Before(ctx, m)
	}
	return nil
}
