package turn

import (
	"context"
	"errors"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Capacity bounds how many turns run at once. 0 is no bound. Over it a turn waits; who waits longest is next.
type Capacity struct {
	Stack     int // of all sessions
	Principal int // of the sessions of one user or system
}

// lines are the scopes in which a principal's turn needs a place.
func (c Capacity) lines(p contract.Principal) []session.Line {
	var all []session.Line
	if c.Principal > 0 {
		all = append(all, session.Line{Scope: "principal#" + string(p.Type) + "#" + p.ID, Max: c.Principal})
	}
	if c.Stack > 0 {
		all = append(all, session.Line{Scope: "stack", Max: c.Stack})
	}
	return all
}

// maxContests bounds how often a place is asked for when others get it first.
const maxContests = 8

// look reads the lines that s stands in. Those who do not wait any more are taken out as far as they matter: as many as could get a
// place now.
func (e *Engine) look(ctx context.Context, s session.State) ([]session.Line, error) {
	lines := e.Capacity.lines(s.Principal)
	for i, l := range lines {
		read, err := e.Table.Line(ctx, l.Scope)
		if err != nil {
			return nil, err
		}
		read.Max = l.Max
		if lines[i], err = e.real(ctx, read, s.SessionID); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// real is a line without those at its head who do not wait: their turn was stopped, or their session was deleted.
func (e *Engine) real(ctx context.Context, l session.Line, sessionID string) (session.Line, error) {
	vacant, real := len(l.Vacant(e.Now())), 0
	var waiters []session.Waiter
	for i, w := range l.Waiters {
		if real == vacant {
			waiters = append(waiters, l.Waiters[i:]...)
			break
		}
		s, err := e.Table.State(ctx, w.SessionID)
		switch {
		case err != nil && !fault.Is(err, fault.NotFound):
			return l, err
		case err == nil && s.Waits(w, e.Now()) && !l.Has(w.SessionID, e.Now()):
			waiters = append(waiters, w)
			real++
		case w.SessionID != sessionID:
			if err := e.Table.Commit(ctx, store.DropWaiter(w)); err != nil {
				return l, err
			}
		}
	}
	l.Waiters = waiters
	return l, nil
}

// blocking gives the first line in which s has to wait, or the places that it may have.
func blocking(lines []session.Line, s session.State, now time.Time) (places []session.Place, blocked *session.Line) {
	since := s.Waiter("", now).Since
	for i, l := range lines {
		p, ok := l.Turn(s.SessionID, since, now)
		if !ok {
			return nil, &lines[i]
		}
		places = append(places, p)
	}
	return places, nil
}

// stillWaits reports whether all that the session needs is a place of the line that it stands in, and there is none: then it need not be
// claimed. Where it is another line's it has to change over, so that it keeps nobody behind it waiting.
func (e *Engine) stillWaits(ctx context.Context, s session.State) (bool, error) {
	if !s.Standing() || e.Capacity == (Capacity{}) {
		return false, nil
	}
	lines, err := e.look(ctx, s)
	if err != nil {
		return false, err
	}
	_, blocked := blocking(lines, s, e.Now())
	return blocked != nil && blocked.Scope == s.QueuedIn, nil
}

// enter gets the places that the open or next turn needs. waits is true when the session was given up to wait for them.
func (o *owner) enter(ctx context.Context) (waits bool, err error) {
	if o.Capacity == (Capacity{}) || len(o.places) > 0 {
		return false, nil
	}
	for range maxContests {
		lines, err := o.look(ctx, o.state)
		if err != nil {
			return false, errors.Join(errReload, err)
		}
		places, blocked := blocking(lines, o.state, o.Now())
		if blocked != nil {
			return true, o.wait(ctx, *blocked)
		}
		sent := o.Now()
		switch err := o.take(ctx, places); {
		case err == nil:
			o.placed.Store(sent.UnixNano())
			o.nextIn(ctx, lines)
			return false, nil
		case !fault.Is(err, fault.Conflict):
			return false, errors.Join(errReload, err)
		}
	}
	return false, errReload
}

// take makes places this owner's, all or none, and leaves the line.
func (o *owner) take(ctx context.Context, places []session.Place) error {
	var writes []store.Write
	for i, p := range places {
		places[i] = p.Lent(o.id, o.me, o.Now())
		writes = append(writes, o.Table.TakePlace(places[i]))
	}
	if o.state.Queued {
		writes = append(writes, store.DropWaiter(o.state.Waiter(o.state.QueuedIn, o.Now())))
	}
	err := o.Table.Commit(ctx, writes...)
	if err == nil {
		o.places = places
	}
	return err
}

// wait gives the session up until a place is left. It is told where it stands once.
func (o *owner) wait(ctx context.Context, l session.Line) error {
	w, was := o.state.Waiter(l.Scope, o.Now()), o.state.QueuedIn
	writes := []store.Write{store.PutWaiter(w)}
	if o.state.Queued && o.state.QueuedIn != l.Scope {
		writes = append(writes, store.DropWaiter(o.state.Waiter(o.state.QueuedIn, o.Now())))
	}
	var events []contract.SessionEvent
	if !o.state.Queued {
		turnID := ""
		if o.state.Phase == session.Open {
			turnID = o.state.TurnID() // else it has no name yet: more messages may join it
		}
		events = o.events(turnID, contract.TurnQueued{Position: l.Position(o.id, w.Since)})
		writes = append(writes, o.eventsWrite(events))
	}
	p := session.Progress{NextIndex: o.next + int64(len(events))}
	if err := o.commit(ctx, o.state.Wait(o.me, w, p, o.Now()), false, writes...); err != nil {
		return err
	}
	o.wrote(events)
	o.log.InfoContext(ctx, "waits for a place", "scope", l.Scope)
	o.wakeNext(ctx, l.Scope) // one may have been left meanwhile, by somebody who saw nobody wait
	if was != "" && was != l.Scope {
		o.wakeNext(ctx, was) // whoever stood behind it
	}
	return nil
}

// vacate gives up this owner's places, if it has any, and wakes whoever is next. What fails is left to the leases and the sweep.
func (o *owner) vacate(ctx context.Context) {
	places, left := o.places, o.left
	o.places, o.left = nil, ""
	if len(places) == 0 && left == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for _, p := range places {
		if err := o.Table.Commit(ctx, store.LeavePlace(p)); err != nil && !fault.Is(err, fault.Conflict) {
			o.log.WarnContext(ctx, "a place was not left, its lease will end", "scope", p.Scope, "error", err)
		}
	}
	for _, p := range places {
		o.wakeNext(ctx, p.Scope)
	}
	if left != "" {
		o.wakeNext(ctx, left)
	}
}

// wakeNext wakes the first in a scope's line, if there is a place.
func (o *owner) wakeNext(ctx context.Context, scope string) {
	for _, l := range o.Capacity.lines(o.state.Principal) {
		if l.Scope != scope {
			continue
		}
		read, err := o.Table.Line(ctx, scope)
		if read.Max = l.Max; err == nil {
			read, err = o.real(ctx, read, "")
		}
		if err != nil {
			o.log.WarnContext(ctx, "who waits is not known, the sweep will wake them", "scope", scope, "error", err)
			return
		}
		o.nextIn(ctx, []session.Line{read})
	}
}

// nextIn wakes the first in each line after this session, if there is a place for it.
func (o *owner) nextIn(ctx context.Context, lines []session.Line) {
	for _, l := range lines {
		for _, w := range l.Waiters {
			if _, ok := l.Turn(w.SessionID, w.Since, o.Now()); !ok {
				break
			}
			if w.SessionID == o.id && len(o.places) > 0 {
				continue
			}
			if err := o.Bus.RunTurn(ctx, w.SessionID); err != nil {
				o.log.WarnContext(ctx, "who is next was not woken, the sweep will", "error", err)
			}
			break
		}
	}
}

// keepPlaces extends the lease of the places when it is time. A place that is another's ends the run.
func (o *owner) keepPlaces(ctx context.Context) error {
	sent := o.Now()
	if len(o.places) == 0 || sent.Sub(time.Unix(0, o.placed.Load())) < session.Heartbeat {
		return nil
	}
	for _, p := range o.places {
		err := o.Table.Commit(ctx, store.KeepPlace(p, p.Lent(o.id, o.me, sent)))
		switch {
		case fault.Is(err, fault.Conflict), err != nil && sent.Sub(time.Unix(0, o.placed.Load())) >= session.Lease-session.Margin:
			return errPlace
		case err != nil:
			return nil // the table does not answer: the next look tries again
		}
	}
	o.placed.Store(sent.UnixNano())
	return nil
}
