// Package turn is the owner of a session: it claims the session, takes what waits in its inbox, runs the model and the tools
// step by step, ends the turn and gives the session up. Every write carries the owner's fence; whatever the outcome of a write
// that was refused or is not known, the answer is the same: read the rows again and go on from what they say. It decides
// nothing about admission and never talks to a caller.
package turn

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/socket"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Engine runs sessions. It is safe for concurrent use; a warm one remembers the last conversations.
type Engine struct {
	flow.Edges
	Model        loop.Model
	Tools        tool.Registry
	Servers      Servers // nil: external servers that sessions name are not connected
	Skills       Skills
	Workspace    fs.FS          // files of the program that every session sees in its own until it writes over them; nil: none
	Instructions string         // the system prompt of sessions that have none; default loop.DefaultSystemPrompt
	Alarms       flow.Alarms    // of the reminders that tools make; nil: the host has none
	Sockets      *socket.Caster // nil: nobody follows
	Strands      bool           // also write each turn's history in the TypeScript package's shape
	Limits       loop.Limits
	Compaction   Compaction
	Capacity     Capacity                                         // how many turns run at once
	Approvals    time.Duration                                    // how long people have to decide about a call; default session.ApprovalLife
	Remembered   *Memory                                          // histories of warm sessions; nil: none
	HandOff      time.Duration                                    // with less time than this left, another invocation goes on; default a fifth of what the invocation has, at most a minute
	Poll         time.Duration                                    // how often flags are looked at; default 1 s
	Sleep        func(ctx context.Context, d time.Duration) error // between attempts of a model call; nil: real

	// Memories gives what is kept of a user across conversations; nil: nothing is.
	Memories func(owner contract.Principal, sessionID string) loop.Memory
}

// Why an owner stops what it is doing. None of them leaves the package.
var (
	errReload  = errors.New("read the session again")
	errLost    = errors.New("the session is another owner's")
	errFlagged = errors.New("the turn is to end")
	errHandOff = errors.New("time is short")
	errPlace   = errors.New("the place is another turn's")
	errParked  = errors.New("the turn waits for people")
)

// Do runs the session's turns until nothing is pending, somebody else owns it or time is short. Deliver it as often as you
// like: a trigger for a session that is owned or has nothing to do costs one read. Faults: Unavailable (deliver again).
func (e *Engine) Do(ctx context.Context, sessionID string) error {
	o, err := e.claim(ctx, sessionID)
	if err != nil || o == nil {
		return err
	}
	defer o.stopSockets()
	defer o.vacate(ctx)
	defer o.publishLast(ctx)
	o.log.InfoContext(ctx, "session claimed")
	return o.run(ctx)
}

// claim makes this invocation the session's owner; nil when there is nothing to own.
func (e *Engine) claim(ctx context.Context, sessionID string) (*owner, error) {
	for range 10 {
		s, err := e.Table.State(ctx, sessionID)
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if waits, err := e.stillWaits(ctx, s); waits || err != nil {
			return nil, err
		}
		sent := e.Now()
		id := e.NewID()
		change, ok := s.Claim(id, sent)
		if !ok {
			return nil, nil
		}
		claimed, err := e.Table.Renew(ctx, change)
		old, exists, refused := store.RefusedState(err, sessionID)
		switch {
		case err == nil:
			return e.own(ctx, claimed, session.Me{Owner: id, Fence: claimed.Fence}, sent), nil
		case refused && exists && old.Owner == id:
			return e.own(ctx, old, session.Me{Owner: id, Fence: old.Fence}, sent), nil
		case !refused:
			return e.claimed(ctx, sessionID, id, sent, err)
		}
	}
	return nil, nil // others are at it
}

// claimed finds out whether a claim whose outcome is not known was written after all.
func (e *Engine) claimed(ctx context.Context, sessionID, id string, sent time.Time, unknown error) (*owner, error) {
	if !fault.Retryable(unknown) || ctx.Err() != nil {
		return nil, unknown
	}
	s, err := e.Table.State(ctx, sessionID)
	if err != nil || s.Owner != id {
		return nil, errors.Join(unknown, err)
	}
	return e.own(ctx, s, session.Me{Owner: id, Fence: s.Fence}, sent), nil
}

func (e *Engine) own(ctx context.Context, s session.State, me session.Me, sent time.Time) *owner {
	log := e.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	o := &owner{Engine: e, id: s.SessionID, me: me, state: s, fresh: true, took: s.TurnSeq, told: s.PublishedTo, log: log.With("session", s.SessionID, "fence", me.Fence)}
	o.leased.Store(sent.UnixNano())
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		o.reserve = e.HandOff
		if o.reserve <= 0 {
			o.reserve = min(time.Minute, left/5)
		}
		o.whole = left > 3*o.reserve
	}
	return o
}
