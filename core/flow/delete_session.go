package flow

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// DeleteSession removes a session and everything under it. A tombstone refuses workers and late triggers for a while.
type DeleteSession struct {
	Edges
	Alarms Alarms // nil: those of its reminders are left to themselves
}

// What a deletion takes of a call's time.
const (
	purgeReserve = 3 * time.Second  // of an invocation that deletes or sweeps, kept for its answer
	purgeShare   = 15 * time.Second // of a sweep, for each session: others wait too
	purgeMost    = 24 * time.Hour   // of a call that nothing ends
)

// Do deletes the session: from then on it is gone for everybody. How long its rows take depends on their number: what a call has no time
// for the sweep removes. A call that is cut off may be repeated. Faults: NotFound, Denied, Unavailable.
func (f DeleteSession) Do(ctx context.Context, in SessionOf) (struct{}, error) {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return struct{}{}, err
	}
	s, err := racing(ctx, func() (session.State, bool, error) { return f.try(ctx, in) })
	if err != nil {
		return struct{}{}, err
	}
	_, err = f.purgeFor(ctx, purgeMost, f.Alarms, s)
	return struct{}{}, err
}

func (f DeleteSession) try(ctx context.Context, in SessionOf) (session.State, bool, error) {
	s, err := f.Table.State(ctx, in.SessionID)
	switch {
	case fault.Is(err, fault.NotFound):
		return s, false, f.adoptConfigured(ctx, in)
	case err != nil:
		return s, false, err
	case s.Principal != in.Caller:
		return s, false, fault.New(fault.Denied, "not your session")
	}
	change, ok := s.Delete(f.Now())
	if !ok {
		return s, true, nil
	}
	err = f.Table.Commit(ctx, store.ChangeState(change), store.DropListing(s))
	if fault.Is(err, fault.Conflict) {
		return s, false, nil
	}
	return change.To, err == nil, err
}

// adoptConfigured brings a session that has only a configuration to life, so that it is as any other. Faults: NotFound, Denied.
func (e Edges) adoptConfigured(ctx context.Context, in SessionOf) error {
	config, err := e.Table.SessionConfig(ctx, in.SessionID)
	if err != nil {
		return fault.Wrap(fault.CodeOf(err), err, "no such session")
	}
	if err := config.CheckOwner(in.Caller.ID); err != nil {
		return err
	}
	return e.adopt(ctx, in.SessionID, in.Caller)
}

// purgeFor is purge for so long, or for as long as the invocation has. done is false when that was not enough: the session is due, and the
// sweep goes on.
func (e Edges) purgeFor(ctx context.Context, d time.Duration, alarms Alarms, s session.State) (done bool, err error) {
	if deadline, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(deadline)-purgeReserve)
	}
	within, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	err = e.purge(within, alarms, s)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		e.log().InfoContext(ctx, "a deletion goes on in the sweep", "session", s.SessionID)
		return false, nil
	}
	return err == nil, err
}

// purge finishes the session's tasks and removes its rows, also from the line for places, what leads to it from its channel, and its
// reminders; the tombstone stays.
func (e Edges) purge(ctx context.Context, alarms Alarms, s session.State) error {
	if s.Task != nil {
		if err := e.finishDeleted(ctx, *s.Task, s.SessionID); err != nil {
			return err
		}
	}
	if s.Queued {
		if err := e.leaveLine(ctx, s); err != nil {
			return err
		}
	}
	if s.ChannelKey != "" {
		if err := e.Table.DropContinuation(ctx, s.Channel, s.ChannelKey, s.SessionID); err != nil {
			return err
		}
	}
	return e.Table.Purge(ctx, s.SessionID, store.Purging{
		Before: func(ctx context.Context, m store.Message) error {
			if m.Task == nil {
				return nil
			}
			return e.finishDeleted(ctx, *m.Task, s.SessionID)
		},
		Reminder: func(ctx context.Context, id string) error {
			e.disarm(ctx, alarms, id)
			return e.Table.DropReminder(ctx, s.SessionID, id)
		},
	})
}

// leaveLine takes the session out of the line for places and wakes the session that is first in it now.
func (e Edges) leaveLine(ctx context.Context, s session.State) error {
	if err := e.Table.Commit(ctx, store.DropWaiter(s.Waiter(s.QueuedIn, e.Now()))); err != nil {
		return err
	}
	line, err := e.Table.Line(ctx, s.QueuedIn)
	if err == nil && len(line.Waiters) > 0 {
		e.wake(ctx, line.Waiters[0].SessionID)
	}
	return err
}

// finishDeleted ends a task whose session is deleted, unless its run is over.
func (e Edges) finishDeleted(ctx context.Context, ref session.TaskRef, sessionID string) error {
	t, err := e.Table.TaskOrNone(ctx, ref.ID)
	if err != nil || t.Status != task.Running || t.Fence != ref.Fence || t.Session != sessionID {
		return err
	}
	change := t.FinishTurn(task.Failed, "", task.ReasonSessionDeleted, e.Now())
	err = e.Table.Commit(ctx, store.ChangeTask(change))
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	if err == nil {
		e.announce(ctx, change.To)
	}
	return err
}
