package flow

import (
	"context"
	"iter"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/retell"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// replayReserve is how much time is left for the last word of a replay.
const replayReserve = 2 * time.Second

// Subscribe makes a socket follow a session and tells it what it missed. A turn is told by one writer: those that have ended before
// the socket was written down are told here, from the log; the open one and those to come by their owner, who looks who follows when
// it begins, while it runs and when it ends. So no turn is missed, and none is told by two.
type Subscribe struct {
	Chat
	Tell func(ctx context.Context, connectionID string, messages ...contract.ServerMessage) error
}

// SubscribeIn names the session. From is the first index that matters; nil: nothing is told again of turns that have ended.
type SubscribeIn struct {
	SessionOf
	From *int64
}

// Do subscribes, replays and ends with a message of type subscribed. Every turn that has an event from From on is told from its
// beginning. Repeating it is harmless: the turns are told again. Faults: Invalid, Denied, NotFound, Unavailable.
func (f Subscribe) Do(ctx context.Context, from Socket, in SubscribeIn) error {
	if in.From != nil && *in.From < 0 {
		return fault.New(fault.Invalid, "start_index: must not be negative")
	}
	at := f.Now().UnixMilli()
	c, err := f.follow(ctx, from, in.SessionOf, at)
	if err != nil {
		return err
	}
	s, err := f.called(ctx, in.SessionID, at)
	if err != nil {
		return err
	}
	told := contract.ServerMessage{Type: contract.TypeSubscribed, SessionID: in.SessionID, Status: s.Status()}
	before, all := s.Told(f.Now())
	next := min(before, s.NextIndex)
	if in.From != nil && s.SessionID != "" {
		if next, told.More, err = f.replay(ctx, c, in.SessionID, *in.From, before, all); err != nil {
			return err
		}
	}
	told.Index = &next
	return f.Tell(ctx, c.ID, told)
}

// called tells a running owner that somebody came, and gives the state as it is then; the zero state of a session that has none yet.
func (f Subscribe) called(ctx context.Context, sessionID string, at int64) (session.State, error) {
	s, err := f.Table.State(ctx, sessionID)
	if err == nil {
		s, err = f.Table.Renew(ctx, s.Follow(at))
	}
	switch {
	case fault.Is(err, fault.NotFound):
		return session.State{}, nil
	case fault.Is(err, fault.Conflict):
		return s, fault.New(fault.NotFound, "no such session")
	}
	return s, err
}

// replay tells the turns of the log from index from up to before. It gives the index up to which everything was told, and whether
// there is more, which time did not allow. all tells also of a turn that goes on.
func (f Subscribe) replay(ctx context.Context, c store.Connection, sessionID string, from, before int64, all bool) (next int64, more bool, err error) {
	begin, err := f.Table.TurnBegin(ctx, sessionID, from)
	if err != nil {
		return 0, false, err
	}
	next = begin
	telling := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		telling, cancel = context.WithDeadline(ctx, deadline.Add(-replayReserve))
		defer cancel()
	}
	wants := retell.WantsOf(c.Features)
	for turn, err := range retell.Turns(upTo(f.events(ctx, sessionID, begin), before, &next)) {
		if err == nil && !turn.Ended() && !all {
			return next, false, nil // its owner's
		}
		if err == nil { // of a turn that goes on nothing is taken back here: that could overtake what its next owner tells
			err = f.Tell(telling, c.ID, turn.Messages(retell.Wants{Resets: wants.Resets && turn.Ended(), Approvals: wants.Approvals})...)
		}
		switch {
		case err == nil:
		case turn != nil && telling.Err() != nil && ctx.Err() == nil:
			return *turn.Begun, true, nil
		default:
			return 0, false, err
		}
	}
	return next, false, nil
}

// upTo ends events before an index and notes where they ended.
func upTo(events iter.Seq2[contract.SessionEvent, error], before int64, next *int64) iter.Seq2[contract.SessionEvent, error] {
	return func(yield func(contract.SessionEvent, error) bool) {
		for e, err := range events {
			if err == nil && e.Index >= before {
				return
			}
			if !yield(e, err) {
				return
			}
			*next = e.Index + 1
		}
	}
}
