package flow

import (
	"context"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Reminders makes, lists and cancels reminders.
type Reminders struct {
	Edges
	Alarms Alarms                     // nil: none are made, and alarms are left to themselves
	Known  []schedule.ReminderHandler // those that a reminder may name; nil: whoever fires it knows
}

// RemindIn asks for a reminder in a conversation of a verified caller.
type RemindIn struct {
	SessionID string
	Caller    contract.Principal
	Reminder  contract.NewReminder
	Key       string // the same key in the same conversation is the same reminder; "": each call makes one
}

// Create makes a reminder and sets its alarm. Faults: Invalid, NotFound, Denied, Conflict (task_session, reminders_disabled), Limit (about
// schedule.MaxReminders are active: calls at one moment may pass it), Unavailable.
func (f Reminders) Create(ctx context.Context, in RemindIn) (contract.Reminder, error) {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return contract.Reminder{}, err
	}
	if f.Alarms == nil {
		return contract.Reminder{}, fault.New(fault.Conflict, "reminders are disabled on this host").Because("reminders_disabled")
	}
	id := "rem_" + f.NewID()
	if in.Key != "" {
		id = "rem_" + key.Hash(in.SessionID + "\x00" + in.Key)[:32]
	}
	if err := f.known(in.Reminder.Run); err != nil {
		return contract.Reminder{}, err
	}
	row, err := schedule.Remind(id, in.SessionID, in.Caller, in.Reminder, f.Now())
	if err != nil {
		return contract.Reminder{}, err
	}
	if row, err = racing(ctx, func() (schedule.ReminderRow, bool, error) { return f.try(ctx, in, row) }); err != nil {
		return contract.Reminder{}, err
	}
	if row.Status == schedule.Active {
		f.setAlarm(ctx, f.Alarms, row, true)
	}
	return row.View(), nil
}

func (f Reminders) try(ctx context.Context, in RemindIn, row schedule.ReminderRow) (schedule.ReminderRow, bool, error) {
	if err := f.mayRemind(ctx, in); err != nil {
		return row, false, err
	}
	if in.Key != "" { // it may be a call again, which no limit concerns
		if made, err := f.Table.Reminder(ctx, row.ReminderID); !fault.Is(err, fault.NotFound) {
			return made, err == nil, err
		}
	}
	if err := f.room(ctx, in.SessionID); err != nil {
		return row, false, err
	}
	err := f.Table.Commit(ctx, store.NewReminder(row)...)
	switch {
	case store.RefusedBy(err, key.Reminder(row.ReminderID)): // made by an earlier call
		row, err = f.Table.Reminder(ctx, row.ReminderID)
	case fault.Is(err, fault.Conflict): // the session moved
		return row, false, nil
	}
	return row, err == nil, err
}

// mayRemind refuses what cannot be reminded, and brings to life what has only a configuration.
func (f Reminders) mayRemind(ctx context.Context, in RemindIn) error {
	s, err := f.owned(ctx, in.SessionID, in.Caller)
	if fault.Is(err, fault.NotFound) && s.SessionID == "" {
		return f.adoptConfigured(ctx, SessionOf{in.SessionID, in.Caller})
	}
	if err != nil {
		return err
	}
	if s.Mode != session.Chat {
		return fault.New(fault.Conflict, "a task session cannot receive follow-ups, so it cannot be reminded").Because("task_session")
	}
	return nil
}

// known refuses a handler that there is not, where the program's are known.
func (f Reminders) known(run string) error {
	if run == "" || f.Known == nil || slices.ContainsFunc(f.Known, func(h schedule.ReminderHandler) bool { return h.Name == run }) {
		return nil
	}
	return fault.New(fault.Invalid, "run: the program has no handler of this name")
}

// room refuses one reminder too many.
func (f Reminders) room(ctx context.Context, sessionID string) error {
	active, _, err := f.Table.SessionReminders(ctx, sessionID)
	if err == nil && len(active) >= schedule.MaxReminders {
		err = fault.New(fault.Limit, "the conversation has %d active reminders, the limit is %d: cancel some first", len(active), schedule.MaxReminders)
	}
	return err
}

// RemindersOf names reminders of one conversation.
type RemindersOf struct {
	SessionID  string
	Caller     contract.Principal
	Purpose    string // "": any
	ReminderID string // "": all
}

// List gives a conversation's reminders: the active ones, the next to fire first, then those that ended within a day. Faults: Invalid,
// NotFound, Denied, Unavailable.
func (f Reminders) List(ctx context.Context, in RemindersOf) (contract.Reminders, error) {
	rows, err := f.rows(ctx, in)
	out := contract.Reminders{Reminders: make([]contract.Reminder, 0, len(rows))}
	for _, r := range rows {
		out.Reminders = append(out.Reminders, r.View())
	}
	return out, err
}

func (f Reminders) rows(ctx context.Context, in RemindersOf) (rows []schedule.ReminderRow, err error) {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return nil, err
	}
	if _, err := f.mine(ctx, SessionOf{in.SessionID, in.Caller}); err != nil {
		return nil, err
	}
	active, ended, err := f.Table.SessionReminders(ctx, in.SessionID)
	if err != nil {
		return nil, err
	}
	for _, id := range append(active, ended...) {
		if in.ReminderID != "" && in.ReminderID != id {
			continue
		}
		r, err := f.Table.Reminder(ctx, id)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
		if err == nil && (in.Purpose == "" || in.Purpose == r.Purpose) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, byTime)
	return rows, nil
}

// byTime puts active ones first, by their time.
func byTime(a, b schedule.ReminderRow) int {
	if a, b := a.Status == schedule.Active, b.Status == schedule.Active; a != b {
		if a {
			return -1
		}
		return 1
	}
	if n := a.Next().Compare(b.Next()); n != 0 {
		return n
	}
	return strings.Compare(a.ReminderID, b.ReminderID)
}

// CancelledReminders says how many were cancelled.
type CancelledReminders struct {
	Cancelled int `json:"cancelled"`
}

// Cancel ends the active reminders that the request selects, and takes their alarms away. A reminder named by its id must belong to
// the conversation. Idempotent. Faults:
// Invalid, NotFound, Denied, Unavailable.
func (f Reminders) Cancel(ctx context.Context, in RemindersOf) (out CancelledReminders, err error) {
	rows, err := f.rows(ctx, in)
	if err == nil && in.ReminderID != "" && len(rows) == 0 {
		err = fault.New(fault.NotFound, "no such reminder")
	}
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		ended, err := racing(ctx, func() (bool, bool, error) { return f.cancel(ctx, r.ReminderID) })
		if err != nil {
			return out, err
		}
		if ended {
			out.Cancelled++
		}
	}
	return out, nil
}

func (f Reminders) cancel(ctx context.Context, id string) (ended, settled bool, err error) {
	r, err := f.Table.Reminder(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return false, true, nil
	}
	if err != nil {
		return false, false, err
	}
	change, ok := r.Cancel(f.Now())
	if ok {
		err = f.Table.Commit(ctx, store.ChangeReminder(change)...)
		if fault.Is(err, fault.Conflict) {
			return false, false, nil
		}
		if err != nil {
			return false, false, err
		}
	}
	f.disarm(ctx, f.Alarms, id) // also of one that was cancelled by a call that died
	return ok, true, nil
}
