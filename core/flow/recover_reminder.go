package flow

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/store"
)

// reminder has a reminder fired whose alarm did not come, and keeps the conversation of one whose time is far.
func (f Recover) reminder(ctx context.Context, id string) (string, error) {
	r, err := f.Table.Reminder(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return "leave", nil
	}
	if err != nil {
		return "", err
	}
	now := f.Now()
	if change, far := r.Far(now); far {
		return f.keep(ctx, change)
	}
	change, ok := r.Late(now, min(max(now.Sub(r.Next()), time.Minute), time.Hour))
	if done, err := f.rearm(ctx, ok, store.ChangeReminder(change)[0]); done || err != nil {
		return "leave", err
	}
	fire := contract.FireReminder{ReminderID: id, At: contract.At(r.Next())}
	return "reminder", f.Bus.Publish(ctx, bus.Event{DetailType: contract.FireReminderType, Detail: fire})
}

// keep lets a conversation live on in which nobody speaks, for it is to be woken.
func (f Recover) keep(ctx context.Context, change schedule.ReminderChange) (string, error) {
	id := change.To.SessionID
	writes := store.ChangeReminder(change)
	s, err := f.Table.State(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	if kept, ok := s.Keep(f.Now()); err == nil && ok {
		config, err := f.Table.SessionConfig(ctx, id)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return "", err
		}
		if writes = append(writes, store.ChangeState(kept), store.PutListing(kept.To, config.Title)); err == nil {
			writes = append(writes, store.KeepConfig(id, kept.To.ExpiresAt))
		}
	}
	err = f.Table.Commit(ctx, writes...)
	if fault.Is(err, fault.Conflict) { // it moved: it is still due
		return "leave", nil
	}
	return "reminder kept", err
}
