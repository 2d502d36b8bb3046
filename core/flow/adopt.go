package flow

import (
	"context"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// adopt brings a session to life that has no state yet: one that the TypeScript package created, or one that nobody created and
// whose first verified caller owns it. Faults: Invalid, Denied.
func (e Edges) adopt(ctx context.Context, sessionID string, caller contract.Principal) error {
	if err := contract.CheckSessionID("session id", sessionID); err != nil {
		return err
	}
	config, err := e.Table.SessionConfig(ctx, sessionID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if err == nil && config.CheckOwner(caller.ID) != nil {
		return config.CheckOwner(caller.ID)
	}
	now := e.Now()
	s := session.New(sessionID, session.Chat, caller, now)
	s.Token = e.NewID()
	err = e.Table.Commit(ctx,
		store.NewState(s), store.PutListing(s, config.Title),
		store.NewEvents(sessionID, session.Me{}, []contract.SessionEvent{started(s, now)}, expires(now)),
		store.CheckConfig(sessionID, config.UserID))
	switch {
	case store.RefusedBy(err, key.State(sessionID)):
		return nil // somebody was faster: the state decides
	case store.RefusedBy(err, key.Event(sessionID, 0)), store.RefusedBy(err, key.Config(sessionID)) && config.UserID == "":
		return e.clear(ctx, sessionID) // what is left of an earlier session of this id, whose time is over
	case fault.Is(err, fault.Conflict):
		return nil // the configuration moved: read again
	}
	return err
}

// clear removes what an expired session of this id left behind, so that the id may begin anew. Sockets stay, and so does a
// configuration that is valid; with it, what its owner has said since in a program.
func (e Edges) clear(ctx context.Context, sessionID string) error {
	_, err := e.Table.SessionConfig(ctx, sessionID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	configured, spoken := err == nil, false
	if configured {
		tip, err := e.Table.Latest(ctx, sessionID)
		if err != nil {
			return err
		}
		spoken = tip != ""
	}
	err = e.Table.Purge(ctx, sessionID, store.Purging{Dead: true, Keep: func(sk string) bool {
		return strings.HasPrefix(sk, key.SubPrefix) || sk == key.ConfigSK && configured ||
			spoken && (strings.HasPrefix(sk, key.SnapshotPrefix) || sk == key.Latest(sessionID).SK)
	}})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// revive makes room for a session whose time is over, so that its id may begin anew.
func (e Edges) revive(ctx context.Context, sessionID string) error {
	err := e.Table.Commit(ctx, store.DeleteExpiredState(sessionID, e.Now().Unix()))
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
