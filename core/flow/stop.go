package flow

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Stop ends the turn of a session.
type Stop struct{ Edges }

// StopIn names the session. Clear also cancels what waits. With a DeliveryID it is done once, however often it comes: what began since goes
// on.
type StopIn struct {
	SessionID  string
	Caller     contract.Principal
	Clear      bool
	DeliveryID string // "": each is a stop of its own
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
	if in.DeliveryID != "" {
		if err := contract.CheckID("deliveryId", in.DeliveryID); err != nil {
			return StopOut{}, err
		}
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
	now := f.Now()
	change, ok, err := decide(now)
	var writes []store.Write
	if ok {
		writes = append(writes, store.ChangeState(change))
	}
	if in.DeliveryID != "" {
		done := contract.Delivery{DeliveryID: in.DeliveryID, SessionID: in.SessionID}
		writes = append(writes, store.NewDelivery(done, now.Unix(), now.Add(deliveryLife).Unix()))
	}
	if err != nil || len(writes) == 0 {
		return StopOut{}, err == nil, err
	}
	switch err = f.Table.Commit(ctx, writes...); {
	case store.RefusedDelivery(err, in.SessionID, in.DeliveryID):
		ok = true // it was done before, and whoever did it may have died before this
	case fault.Is(err, fault.Conflict):
		return StopOut{}, false, nil
	case err != nil:
		return StopOut{}, false, err
	}
	if ok {
		f.wake(ctx, in.SessionID)
	}
	return StopOut{Stopping: ok}, true, nil
}
