// Package flow holds the use-cases that light functions run: each loads, lets a rule decide, saves, and tells. A file is a
// use-case. It never calls a model: running a turn is package turn's.
package flow

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Edges are the outside world of a use-case.
type Edges struct {
	Table store.Table
	Bus   bus.Bus
	Now   func() time.Time
	NewID func() string // random, unique, at least 122 bits: ids double as tokens
	Log   *slog.Logger  // nil: discard
}

func (e Edges) log() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

// maxRaces bounds how often a use-case starts over because others were faster.
const maxRaces = 25

// racing runs try until it settles. Conflict from a row that moved, and an unknown outcome, mean: read again and decide again.
func racing[T any](ctx context.Context, try func() (T, bool, error)) (T, error) {
	var zero T
	unknown := 0
	for range maxRaces {
		out, settled, err := try()
		switch {
		case err == nil && settled:
			return out, nil
		case fault.Retryable(err) && ctx.Err() == nil && unknown < 2:
			unknown++
		case err != nil:
			return zero, err
		}
	}
	return zero, fault.New(fault.Unavailable, "too many others write to the same row, try again")
}

// wake tells the worker of a session. A failure is not the caller's: what is due is swept.
func (e Edges) wake(ctx context.Context, sessionID string) {
	if err := e.Bus.RunTurn(ctx, sessionID); err != nil {
		e.log().WarnContext(ctx, "the trigger was not published, the sweep will", "session", sessionID, "error", err)
	}
}

// owned reads a session's state and refuses everybody but its owner. Faults: NotFound, Denied.
func (e Edges) owned(ctx context.Context, sessionID string, caller contract.Principal) (session.State, error) {
	s, err := e.Table.State(ctx, sessionID)
	switch {
	case err != nil:
		return s, err
	case s.Principal != caller:
		return s, fault.New(fault.Denied, "not your session")
	case s.Phase == session.Deleted || s.Expired(e.Now()):
		return s, fault.New(fault.NotFound, "no such session")
	}
	return s, nil
}

// mine is owned for a session that may have only a configuration: then it is as new. Faults: NotFound, Denied.
func (e Edges) mine(ctx context.Context, in SessionOf) (session.State, error) {
	s, err := e.owned(ctx, in.SessionID, in.Caller)
	if !fault.Is(err, fault.NotFound) || s.SessionID != "" {
		return s, err
	}
	config, err := e.Table.SessionConfig(ctx, in.SessionID)
	if fault.Is(err, fault.NotFound) {
		return s, fault.New(fault.NotFound, "no such session")
	}
	if err != nil {
		return s, err
	}
	if err := config.CheckOwner(in.Caller.ID); err != nil {
		return s, err
	}
	return session.New(in.SessionID, session.Chat, in.Caller, e.Now()), nil
}

// started is event 0 of a session.
func started(s session.State, now time.Time) contract.SessionEvent {
	return Event(s.SessionID, "", 0, now, contract.SessionStarted{Mode: string(s.Mode), Channel: s.Channel, Principal: s.Principal})
}

// Event makes a session event.
func Event(sessionID, turnID string, index int64, now time.Time, data contract.EventData) contract.SessionEvent {
	raw, err := json.Marshal(data)
	if err != nil { // the types of contract always encode; a tool's raw output was checked where it was made
		raw = json.RawMessage(`{}`)
	}
	return contract.SessionEvent{Type: data.EventType(), Index: index, SessionID: sessionID, TurnID: turnID, At: contract.At(now), Data: raw}
}

// expires is the end of rows that are written once, in seconds.
func expires(now time.Time) int64 { return now.Add(session.RowLife).Unix() }

// sleep waits for d or for the end of ctx, with instead if that is given.
func sleep(ctx context.Context, instead func(context.Context, time.Duration) error, d time.Duration) error {
	if instead != nil {
		return instead(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
