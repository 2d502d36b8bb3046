package flow

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/store"
)

// firing looks after a handler's firing that is due.
func (f Recover) firing(ctx context.Context, k key.Key) (string, error) {
	row, err := f.Table.Firing(ctx, k)
	if fault.Is(err, fault.NotFound) {
		return "leave", nil
	}
	if err != nil {
		return "", err
	}
	remedy, change := row.Sweep(f.Now(), age(f.Now(), row.ClaimedAt))
	if remedy == schedule.LeaveFiring {
		return "leave", nil
	}
	if remedy == schedule.DeliverFiring && row.ReminderID != "" {
		r, err := f.Table.Reminder(ctx, row.ReminderID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return "", err
		}
		if r.Status != schedule.Active || r.NextFireAt != row.At {
			remedy, change = schedule.DropFiring, row.Drop()
		}
	}
	if done, err := f.rearm(ctx, true, store.ChangeFiring(change)); done || err != nil {
		return "leave", err
	}
	if remedy == schedule.DropFiring {
		return "firing dropped", nil
	}
	if remedy == schedule.FiringCountLost {
		whose, id := "schedule", row.ScheduleID
		if row.ReminderID != "" {
			whose, id = "reminder", row.ReminderID
		}
		f.log().ErrorContext(ctx, "a "+whose+"'s firing was lost: its worker died in the middle, and nobody knows what it did", whose, id, "at", contract.At(time.UnixMilli(row.At)))
		if row.ReminderID == "" {
			return "firing lost", nil
		}
		return "firing lost", f.deliver(ctx, row) // the reminder goes on
	}
	return "firing deliver", f.deliver(ctx, row)
}

// deliver has a firing taken up again.
func (f Recover) deliver(ctx context.Context, row schedule.FiringRow) error {
	at := contract.At(time.UnixMilli(row.At))
	if row.ReminderID != "" {
		fire := contract.FireReminder{ReminderID: row.ReminderID, At: at, Manual: row.Manual}
		return f.Bus.Publish(ctx, bus.Event{DetailType: contract.FireReminderType, Detail: fire})
	}
	return f.Bus.RunSchedule(ctx, contract.RunSchedule{ScheduleID: row.ScheduleID, At: at, Manual: row.Manual})
}
