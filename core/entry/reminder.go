package entry

import (
	"context"
	"log/slog"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
)

// Reminder makes a handler of reminder firings, which answers with their outcome. One that is asked for by hand without its time is the
// next, and is answered also when it is refused; an error of any other means that it is delivered again.
func Reminder(log *slog.Logger, fire flow.FireReminder) func(context.Context, contract.RawEvent) (contract.ReminderFired, error) {
	return func(ctx context.Context, e contract.RawEvent) (fired contract.ReminderFired, err error) {
		err = Event(log, nil, func(ctx context.Context, in contract.FireReminder, _ string) (err error) {
			if !in.Manual || in.At != "" {
				fired, err = fire.Do(ctx, in)
				return err
			}
			fired, err = flow.DispatchReminder{FireReminder: fire}.Do(ctx, in.ReminderID)
			if err != nil && !fault.Retryable(err) {
				fired.Error, fired.Code, err = fault.Public(err), word(err), nil
			}
			return err
		})(ctx, e)
		return fired, err
	}
}

// Reminders decodes a request that names a session, and a reminder or a purpose, or neither.
func Reminders(r Request) (in flow.RemindersOf, err error) {
	in.SessionID, in.ReminderID, in.Purpose = r.Path("sessionId"), r.Path("reminderId"), r.Query("purpose")
	if _, named := r.QueryStringParameters["purpose"]; named && in.Purpose == "" { // and not all of them
		return in, fault.New(fault.Invalid, "purpose: must not be empty")
	}
	in.Caller, err = r.Caller()
	return in, err
}
