package flow

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/store"
)

// handle fires the form that names a handler.
func (f FireReminder) handle(ctx context.Context, r schedule.ReminderRow, manual bool) (contract.ReminderFired, bool, error) {
	i := slices.IndexFunc(f.Handlers, func(h schedule.ReminderHandler) bool { return h.Name == r.Run })
	if i < 0 {
		return f.lose(ctx, r, schedule.HandlerLost)
	}
	lease := handlerLease(ctx, f.Lease, f.Now())
	row, mine, err := claiming{Edges: f.Edges, firing: r.Firing(manual), owner: f.NewID(), lease: lease}.start(ctx)
	switch {
	case err != nil:
		return contract.ReminderFired{}, false, err
	case mine:
		t := &ticking{FireReminder: f, row: r}
		failure := runHandler(ctx, lease, func(ctx context.Context) error { return t.run(ctx, f.Handlers[i]) })
		return f.ran(ctx, r, row.Ended(t.action, t.told(), failure)), true, nil
	case row.Status == schedule.FiringLost:
		return f.goOn(ctx, r, row)
	}
	return firing(r.ReminderID, FiringStale), true, nil // another is at it, or has just ended it
}

// ticking is one firing while its handler runs.
type ticking struct {
	FireReminder
	row    schedule.ReminderRow
	action schedule.Action
	wrote  atomic.Bool
}

func (t *ticking) run(ctx context.Context, h schedule.ReminderHandler) error {
	action, err := h.Run(ctx, schedule.Tick{Reminder: t.row.View(), FireCount: t.row.FireCount + 1, FollowUp: t.followUp})
	if err != nil {
		return err
	}
	if !slices.Contains([]schedule.Action{schedule.Stop, schedule.Skip, schedule.Delivered}, action) {
		return fault.New(fault.Internal, "it answered %q, neither stop, skip nor delivered", action)
	}
	t.action = action
	return nil
}

// followUp sends the firing's one message. The delivery id makes it one.
func (t *ticking) followUp(ctx context.Context, message string) (contract.Delivery, error) {
	d, err := Admit{t.Edges}.Do(ctx, AdmitIn{
		SessionID: t.row.SessionID, Caller: t.row.Owner, Text: message, Admission: contract.Coalesce, DeliveryID: deliveryOf(t.row),
	})
	if err == nil {
		t.wrote.Store(true)
	}
	return d, err
}

func (t *ticking) told() []string {
	if t.wrote.Load() {
		return []string{t.row.SessionID}
	}
	return nil
}

// ran writes the firing's end and the reminder's next time.
func (f FireReminder) ran(ctx context.Context, r schedule.ReminderRow, end schedule.FiringChange) contract.ReminderFired {
	if end.To.Error != "" {
		f.log().ErrorContext(ctx, "a reminder's handler failed", "reminder", r.ReminderID, "handler", r.Run, "error", end.To.Error)
	}
	next, err := racing(ctx, func() (schedule.ReminderRow, bool, error) { return f.end(ctx, r, end) })
	if err != nil { // it ran; the sweep will say that nobody knows how it ended
		f.log().ErrorContext(ctx, "the end of a reminder's firing was not saved", "reminder", r.ReminderID, "error", err)
	} else {
		f.arm(ctx, f.Alarms, next)
	}
	return contract.ReminderFired{Outcome: FiringFired, SessionIDs: end.To.Sessions, Action: string(end.To.Action), Error: end.To.Error}
}

// end writes both, or only the end if the reminder has ended meanwhile; the reminder it gives is the one to arm.
func (f FireReminder) end(ctx context.Context, r schedule.ReminderRow, end schedule.FiringChange) (schedule.ReminderRow, bool, error) {
	present, err := f.Table.Reminder(ctx, r.ReminderID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return r, false, err
	}
	writes := []store.Write{store.ChangeFiring(end)}
	if err == nil && present.Status == schedule.Active && present.NextFireAt == r.NextFireAt {
		change := present.Ran(end.To, f.Now())
		writes, present = append(writes, store.ChangeReminder(change)...), change.To
	}
	err = f.Table.Commit(ctx, writes...)
	switch {
	case store.RefusedBy(err, end.To.Key()): // written before, or the sweep has given it up
		return present, true, nil
	case fault.Is(err, fault.Conflict):
		return present, false, nil
	}
	return present, err == nil, err
}

// goOn sets the next time of a reminder whose firing was lost: it is counted, and not run again.
func (f FireReminder) goOn(ctx context.Context, r schedule.ReminderRow, lost schedule.FiringRow) (contract.ReminderFired, bool, error) {
	change := r.Ran(lost, f.Now())
	err := f.Table.Commit(ctx, store.ChangeReminder(change)...)
	if fault.Is(err, fault.Conflict) {
		return contract.ReminderFired{}, false, nil
	}
	if err == nil {
		f.arm(ctx, f.Alarms, change.To)
	}
	return contract.ReminderFired{Outcome: FiringFired, Error: schedule.HandlerFailed}, err == nil, err
}
