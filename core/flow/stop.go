package flow

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Stop ends the turn of a session.
type Stop struct{ Edges }

// StopIn names the session. Clear also cancels what waits.
type StopIn struct {
	SessionID string
	Caller    contract.Principal
	Clear     bool
}

// StopOut says whether there was anything to stop.
type StopOut struct {
	Stopping bool `json:"stopping"`
}

// Do asks the session's owner to stop, which happens within a second or two. Idempotent. Faults: NotFound, Denied, Unavailable.
func (f Stop) Do(ctx context.Context, in StopIn) (StopOut, error) {
	if err := contract.CheckID("session_id", in.SessionID); err != nil {
		return StopOut{}, err
	}
	return racing(ctx, func() (StopOut, bool, error) { return f.try(ctx, in) })
}

func (f Stop) try(ctx context.Context, in StopIn) (StopOut, bool, error) {
	s, err := f.mine(ctx, SessionOf{in.SessionID, in.Caller})
	if err != nil {
		return StopOut{}, false, err
	}
	decide := s.StopTurn
	if in.Clear {
		decide = s.StopAll
	}
	change, ok, err := decide(f.Now())
	if err != nil || !ok {
		return StopOut{}, err == nil, err
	}
	err = f.Table.Commit(ctx, store.ChangeState(change))
	if fault.Is(err, fault.Conflict) {
		return StopOut{}, false, nil
	}
	if err == nil {
		f.wake(ctx, in.SessionID)
	}
	return StopOut{Stopping: true}, err == nil, err
}
