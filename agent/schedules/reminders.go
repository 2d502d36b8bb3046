package schedules

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/schedule"
)

// Reminders are the handlers that reminders may name. A reminder keeps the name, so a handler is found again after a restart and a
// deployment; one that is taken away ends its reminders with the reason handler_lost. Faults: Invalid.
func Reminders() ([]schedule.ReminderHandler, error) {
	return schedule.ReminderHandlers(schedule.ReminderHandler{Name: "thrice", Run: thrice})
}

// thrice is an example: it wakes the conversation three times, then there is no more. Whoever makes the reminder says how far apart.
func thrice(ctx context.Context, t schedule.Tick) (schedule.Action, error) {
	_, err := t.FollowUp(ctx, "Look after this again: "+t.Reminder.Purpose+". Say something only if there is news.")
	if err == nil && t.FireCount >= 3 {
		return schedule.Stop, nil
	}
	return schedule.Delivered, err
}
