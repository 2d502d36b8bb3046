package flow

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// HostReminders are a program's reminders for one principal: what tools, channels and schedules get. It is a schedule.Reminders.
type HostReminders struct {
	Reminders
	Caller contract.Principal
}

// Create makes a reminder. Faults as Reminders.Create.
func (h HostReminders) Create(ctx context.Context, n schedule.NewReminder) (contract.Reminder, error) {
	id, err := h.conversation(ctx, n.SessionID, n.Channel, n.ContinuationToken)
	if err != nil {
		return contract.Reminder{}, err
	}
	return h.Reminders.Create(ctx, RemindIn{SessionID: id, Caller: h.Caller, Reminder: n.NewReminder, Key: n.Key})
}

// List gives a conversation's reminders. Faults as Reminders.List.
func (h HostReminders) List(ctx context.Context, f schedule.ReminderFilter) ([]contract.Reminder, error) {
	of, err := h.of(ctx, f)
	if err != nil {
		return nil, err
	}
	out, err := h.Reminders.List(ctx, of)
	return out.Reminders, err
}

// Cancel ends the active reminders that f selects. Faults as Reminders.Cancel.
func (h HostReminders) Cancel(ctx context.Context, f schedule.ReminderFilter) (int, error) {
	of, err := h.of(ctx, f)
	if err != nil {
		return 0, err
	}
	out, err := h.Reminders.Cancel(ctx, of)
	return out.Cancelled, err
}

func (h HostReminders) of(ctx context.Context, f schedule.ReminderFilter) (RemindersOf, error) {
	id, err := h.conversation(ctx, f.SessionID, f.Channel, f.ContinuationToken)
	return RemindersOf{SessionID: id, Caller: h.Caller, Purpose: f.Purpose, ReminderID: f.ReminderID}, err
}

// conversation finds the session that a channel's key leads to, unless it is named.
func (h HostReminders) conversation(ctx context.Context, sessionID, channel, token string) (string, error) {
	if (sessionID == "") == (channel == "" || token == "") {
		return "", fault.New(fault.Invalid, "sessionId, or channel and continuationToken, is due")
	}
	if sessionID != "" {
		return sessionID, nil
	}
	c, err := h.Table.Continuation(ctx, channel, token)
	return c.SessionID, err
}
