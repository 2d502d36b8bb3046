package flow

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// FireReminder fires a reminder: its prompt becomes a message of the conversation in the same transaction that counts the firing and
// sets the next time, so a firing that is delivered twice, or swept, is one message.
type FireReminder struct {
	Reminders
	Off   bool                                             // only what is fired by hand fires
	Sleep func(ctx context.Context, d time.Duration) error // nil: a timer
}

// Firing says what became of one.
type Firing string

// What may become of a firing.
const (
	Fired       Firing = "fired"
	FiringStale Firing = "stale" // fired before, cancelled, or moved on
	FiringOff   Firing = "off"
	FiringLost  Firing = "lost" // the conversation takes no messages, or the handler is gone: the reminder ends
)

// Do fires a reminder. Idempotent. Faults: Unavailable (deliver it again).
func (f FireReminder) Do(ctx context.Context, in contract.FireReminder) (Firing, error) {
	if f.Off && !in.Manual {
		return FiringOff, nil
	}
	if err := f.wait(ctx, in.NotBefore); err != nil {
		return "", err
	}
	return racing(ctx, func() (Firing, bool, error) { return f.try(ctx, in) })
}

// wait lets a firing that was sent early come in time.
func (f FireReminder) wait(ctx context.Context, until contract.Instant) error {
	at, err := until.Time()
	ahead := at.Sub(f.Now())
	if until == "" || err != nil || ahead <= 0 {
		return nil
	}
	return fault.Wrap(fault.Unavailable, sleep(ctx, f.Sleep, min(ahead, schedule.Near)), "wait for a reminder's time")
}

func (f FireReminder) try(ctx context.Context, in contract.FireReminder) (Firing, bool, error) {
	r, err := f.Table.Reminder(ctx, in.ReminderID)
	if fault.Is(err, fault.NotFound) {
		return FiringStale, true, nil
	}
	if err != nil {
		return "", false, err
	}
	if r.Status != schedule.Active || in.At != "" && in.At != contract.At(r.Next()) {
		f.rearmFar(ctx, r)
		return FiringStale, true, nil
	}
	s, err := f.Table.State(ctx, r.SessionID)
	switch {
	case fault.Is(err, fault.NotFound) || err == nil && s.Phase == session.Deleted:
		return FiringLost, true, f.Table.DropReminder(ctx, r.SessionID, r.ReminderID)
	case err != nil:
		return "", false, err
	case s.Mode != session.Chat:
		return f.lose(ctx, r, schedule.SessionEnded)
	}
	return f.send(ctx, r)
}

// rearmFar sets an alarm again that a worker may have died before setting. A near one is an event of its own, and one for each that is
// stale would never end: it is left to the sweep.
func (f FireReminder) rearmFar(ctx context.Context, r schedule.ReminderRow) {
	if r.Next().Sub(f.Now()) > schedule.Near {
		f.arm(ctx, f.Alarms, r)
	}
}

// lose ends a reminder that cannot fire.
func (f FireReminder) lose(ctx context.Context, r schedule.ReminderRow, reason string) (Firing, bool, error) {
	err := f.Table.Commit(ctx, store.ChangeReminder(r.Lose(reason, f.Now()))...)
	if fault.Is(err, fault.Conflict) {
		return "", false, nil
	}
	if err == nil {
		f.log().WarnContext(ctx, "a reminder has ended", "reminder", r.ReminderID, "reason", reason)
	}
	return FiringLost, err == nil, err
}

// send fires the prompt form.
func (f FireReminder) send(ctx context.Context, r schedule.ReminderRow) (Firing, bool, error) {
	change := r.Fire(f.Now())
	_, settled, err := Admit{f.Edges}.try(ctx, AdmitIn{
		SessionID: r.SessionID, Caller: r.Owner, Text: r.Message(change.To.FireCount), Admission: contract.Coalesce,
		DeliveryID: deliveryOf(r), with: store.ChangeReminder(change),
	})
	if err != nil || !settled {
		return "", false, err
	}
	f.arm(ctx, f.Alarms, change.To)
	return Fired, true, nil
}

// deliveryOf names the message of a reminder's present firing.
func deliveryOf(r schedule.ReminderRow) string {
	return fmt.Sprintf("rem:%s:%d", r.ReminderID, r.NextFireAt)
}
