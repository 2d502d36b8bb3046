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

// FireReminder fires a reminder. Its prompt becomes a message of the conversation in the same transaction that counts the firing and
// sets the next time, so a firing that is delivered twice, or swept, is one message. Where it names a handler the firing is claimed and
// started, the handler runs, and the firing's end and the reminder's next time are one transaction.
type FireReminder struct {
	Reminders
	Handlers []schedule.ReminderHandler
	Off      bool                                             // only what is fired by hand fires
	Lease    time.Duration                                    // how long a handler may take where the context has no deadline, default 15 minutes
	Sleep    func(ctx context.Context, d time.Duration) error // nil: a timer
}

// What can become of a firing, as contract.ReminderFired tells it.
const (
	FiringFired = "fired"
	FiringStale = "stale" // fired before, cancelled, moved on, or a handler is at it
	FiringOff   = "off"
	FiringLost  = "lost" // the conversation takes no messages, or the handler is gone: the reminder ends
)

// Do fires a reminder. Idempotent. Faults: Unavailable (deliver it again).
func (f FireReminder) Do(ctx context.Context, in contract.FireReminder) (contract.ReminderFired, error) {
	if f.Off && !in.Manual {
		f.log().InfoContext(ctx, "reminders are off", "reminder", in.ReminderID)
		return firing(in.ReminderID, FiringOff), nil
	}
	if err := f.wait(ctx, in.NotBefore); err != nil {
		return firing(in.ReminderID, ""), err
	}
	fired, err := racing(ctx, func() (contract.ReminderFired, bool, error) { return f.try(ctx, in) })
	fired.ReminderID, fired.SessionIDs = in.ReminderID, append([]string{}, fired.SessionIDs...)
	return fired, err
}

func firing(id, outcome string) contract.ReminderFired {
	return contract.ReminderFired{ReminderID: id, SessionIDs: []string{}, Outcome: outcome}
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

func (f FireReminder) try(ctx context.Context, in contract.FireReminder) (contract.ReminderFired, bool, error) {
	r, err := f.Table.Reminder(ctx, in.ReminderID)
	if fault.Is(err, fault.NotFound) {
		return firing(in.ReminderID, FiringStale), true, nil
	}
	if err != nil {
		return contract.ReminderFired{}, false, err
	}
	if r.Status != schedule.Active || in.At != contract.At(r.Next()) {
		f.rearmFar(ctx, r)
		return firing(in.ReminderID, FiringStale), true, nil
	}
	s, err := f.Table.State(ctx, r.SessionID)
	switch {
	case fault.Is(err, fault.NotFound) || err == nil && (s.Phase == session.Deleted || s.Expired(f.Now()) && !s.Work(f.Now())):
		return firing(in.ReminderID, FiringLost), true, f.Table.DropReminder(ctx, r.SessionID, r.ReminderID)
	case err != nil:
		return contract.ReminderFired{}, false, err
	case s.Mode != session.Chat:
		return f.lose(ctx, r, schedule.SessionEnded)
	case r.Run != "":
		return f.handle(ctx, r, in.Manual)
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
func (f FireReminder) lose(ctx context.Context, r schedule.ReminderRow, reason string) (contract.ReminderFired, bool, error) {
	err := f.Table.Commit(ctx, store.ChangeReminder(r.Lose(reason, f.Now()))...)
	if fault.Is(err, fault.Conflict) {
		return contract.ReminderFired{}, false, nil
	}
	if err == nil {
		f.log().WarnContext(ctx, "a reminder has ended", "reminder", r.ReminderID, "reason", reason)
	}
	return contract.ReminderFired{Outcome: FiringLost, Error: reason}, err == nil, err
}

// send fires the prompt form.
func (f FireReminder) send(ctx context.Context, r schedule.ReminderRow) (contract.ReminderFired, bool, error) {
	change := r.Fire(f.Now())
	_, settled, err := Admit{f.Edges}.try(ctx, AdmitIn{
		SessionID: r.SessionID, Caller: r.Owner, Text: r.Message(change.To.FireCount), Admission: contract.Coalesce,
		DeliveryID: deliveryOf(r), with: store.ChangeReminder(change),
	})
	if err != nil || !settled {
		return contract.ReminderFired{}, false, err
	}
	f.arm(ctx, f.Alarms, change.To)
	return contract.ReminderFired{Outcome: FiringFired, SessionIDs: []string{r.SessionID}}, true, nil
}

// deliveryOf names the message of a reminder's present firing.
func deliveryOf(r schedule.ReminderRow) string {
	return fmt.Sprintf("rem:%s:%d", r.ReminderID, r.NextFireAt)
}

// DispatchReminder fires a reminder by hand, once for each call, in the way that production does: the firing that comes next comes now.
type DispatchReminder struct{ FireReminder }

// Do fires it, also where reminders are off, and says what it came to. Faults: NotFound, Conflict (reminder_ended), Unavailable.
func (f DispatchReminder) Do(ctx context.Context, reminderID string) (contract.ReminderFired, error) {
	r, err := f.Table.Reminder(ctx, reminderID)
	if err == nil && r.Status != schedule.Active {
		err = fault.New(fault.Conflict, "the reminder is %s", r.Status).Because("reminder_ended")
	}
	if err != nil {
		return firing(reminderID, ""), err
	}
	return f.FireReminder.Do(ctx, contract.FireReminder{ReminderID: reminderID, At: contract.At(r.Next()), Manual: true})
}
