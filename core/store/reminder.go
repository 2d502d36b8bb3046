package store

import (
	"context"
	"strings"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
)

// reminderPointer lies under the session. It says which reminders a session has; the reminder itself says the rest.
type reminderPointer struct {
	ExpiresAt int64 `dynamodbav:"expiresAt,omitempty"` // set when the reminder has ended
}

// NewReminder is the writes of a new reminder: refused if there is one of its id, or if its session takes no messages.
func NewReminder(r schedule.ReminderRow) []Write {
	return []Write{
		create(key.Reminder(r.ReminderID), "Reminder", r),
		create(key.SessionReminder(r.SessionID, r.ReminderID), "SessionReminder", reminderPointer{}),
		{key: key.State(r.SessionID), cond: new(cond.And(cond.Eq("mode", session.Chat), cond.In("phase", session.Idle, session.Open, session.Parked)))},
	}
}

// ChangeReminder gives the writes of a reminder's transition.
func ChangeReminder(c schedule.ReminderChange) []Write {
	writes := []Write{change(key.Reminder(c.To.ReminderID), c.From, c.To, c.If)}
	if c.To.Status != schedule.Active {
		expires, err := attribute(c.To.ExpiresAt)
		pointer := key.SessionReminder(c.To.SessionID, c.To.ReminderID)
		writes = append(writes, Write{key: pointer, set: item{key.ExpiresAt: expires}, err: err, cond: new(cond.Exists(key.PK))})
	}
	return writes
}

// Reminder reads a reminder. Faults: NotFound, Unavailable.
func (t Table) Reminder(ctx context.Context, id string) (schedule.ReminderRow, error) {
	row, err := t.get(ctx, key.Reminder(id))
	var r schedule.ReminderRow
	switch {
	case err != nil:
		return r, err
	case row == nil || expired(row, t.now()):
		return r, fault.New(fault.NotFound, "no such reminder")
	}
	return r, decode(row, &r)
}

// SessionReminders gives the ids of a session's reminders: those that are active, and those that have ended lately. Faults:
// Unavailable.
func (t Table) SessionReminders(ctx context.Context, sessionID string) (active, ended []string, err error) {
	s := scope{pk: key.SessionPK(sessionID), keys: prefix(key.ReminderPrefix)}
	for row, err := range t.query(ctx, s) {
		if err != nil {
			return nil, nil, err
		}
		id := strings.TrimPrefix(text(row, key.SK), key.ReminderPrefix)
		switch {
		case row[key.ExpiresAt] == nil:
			active = append(active, id)
		case !expired(row, t.now()):
			ended = append(ended, id)
		}
	}
	return active, ended, nil
}

// DropReminder removes a reminder, whatever became of it, and its firings. Idempotent. Faults: Unavailable.
func (t Table) DropReminder(ctx context.Context, sessionID, id string) error {
	for row, err := range t.query(ctx, scope{pk: key.Reminder(id).PK, keys: prefix(key.FiredPrefix)}) {
		if err != nil {
			return err
		}
		if err := t.Commit(ctx, remove(keyOf(row))); err != nil {
			return err
		}
	}
	return t.Commit(ctx, remove(key.Reminder(id)), remove(key.SessionReminder(sessionID, id)))
}
