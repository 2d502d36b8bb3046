package flow

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
)

// Limits of one page of events.
const (
	MaxEvents     = 10_000
	MaxEventBytes = 4 << 20 // of their lines as a text inside of JSON: Lambda's answers end at 6 MB
)

// ReadEvents reads a page of a session's stream.
type ReadEvents struct{ Edges }

// ReadEventsIn is the page: events from index From on, at most Limit, 0 for as many as fit.
type ReadEventsIn struct {
	SessionOf
	From  int64
	Limit int
}

// ReadEventsOut is a page of events as lines of JSON. Next is the index to go on from, and More whether there is something now.
type ReadEventsOut struct {
	Lines []byte
	Next  int64
	More  bool
}

// Do reads the page. Faults: Invalid, NotFound, Denied, Limit (a single event is too large for a page), Unavailable.
func (f ReadEvents) Do(ctx context.Context, in ReadEventsIn) (ReadEventsOut, error) {
	if in.Limit == 0 {
		in.Limit = MaxEvents
	}
	if in.Limit < 1 || in.Limit > MaxEvents {
		return ReadEventsOut{}, fault.New(fault.Invalid, "limit: must be from 1 to %d", MaxEvents)
	}
	if err := f.readable(ctx, in.SessionOf, in.From); err != nil {
		return ReadEventsOut{}, err
	}
	out := ReadEventsOut{Next: in.From}
	room := MaxEventBytes
	for e, err := range f.events(ctx, in.SessionID, in.From) {
		if err != nil {
			return out, err
		}
		line, size, err := lineOf(e)
		if err != nil {
			return out, err
		}
		if room -= size; room < 0 && len(out.Lines) == 0 {
			return out, fault.New(fault.Limit, "event %d is too large for a page: read it from the stream", e.Index)
		}
		if room < 0 || out.Next-in.From == int64(in.Limit) {
			out.More = true
			return out, nil
		}
		out.Lines, out.Next = append(out.Lines, line...), e.Index+1
	}
	return out, nil
}

// lineOf is an event as a line of JSON, and how long that is as a text inside of JSON.
func lineOf(e contract.SessionEvent) (line []byte, size int, err error) {
	if line, err = json.Marshal(e); err != nil {
		return nil, 0, fault.Wrap(fault.Internal, err, "encode event %d", e.Index)
	}
	line = append(line, '\n')
	for _, b := range line {
		if size++; b == '"' || b == '\\' || b == '\n' {
			size++
		}
	}
	return line, size, nil
}

// readable reports whether the caller may read the session's stream from an index on.
func (e Edges) readable(ctx context.Context, in SessionOf, from int64) error {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return err
	}
	if from < 0 {
		return fault.New(fault.Invalid, "startIndex: must not be negative")
	}
	_, err := e.mine(ctx, in)
	return err
}

// events reads a session's events from an index on. A gap is the work of a deletion, and the session is gone, but for the beginning of a
// log that is older than its rows may be. Faults: NotFound, Unavailable.
func (e Edges) events(ctx context.Context, sessionID string, from int64) iter.Seq2[contract.SessionEvent, error] {
	return func(yield func(contract.SessionEvent, error) bool) {
		next := from
		for event, err := range e.Table.SessionEvents(ctx, sessionID, from) {
			if err == nil && event.Index != next {
				err = e.begun(ctx, sessionID, next == from)
			}
			if !yield(event, err) || err != nil {
				return
			}
			next = event.Index + 1
		}
	}
}

// begun reports why the log does not go on where it was read up to; nothing where it only begins later than it was asked for.
func (e Edges) begun(ctx context.Context, sessionID string, first bool) error {
	s, err := e.Table.State(ctx, sessionID)
	if err == nil && (!first || s.Phase == session.Deleted) {
		err = fault.New(fault.NotFound, "no such session")
	}
	return err
}
