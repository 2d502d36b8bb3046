package schedule

import (
	"context"
	"errors"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// NewReminder asks for a reminder in a conversation: of a session, or of a channel's key.
type NewReminder struct {
	contract.NewReminder
	SessionID         string // or Channel and ContinuationToken
	Channel           string
	ContinuationToken string
	Key               string // the same key in the same conversation is the same reminder; "": each call makes one
}

// ReminderFilter picks reminders of one conversation: all, those for a purpose, or one.
type ReminderFilter struct {
	SessionID         string // or Channel and ContinuationToken
	Channel           string
	ContinuationToken string
	Purpose           string // "": any
	ReminderID        string // "": all of them
}

// Reminders are what a host offers to tools, channels and schedules. A conversation that is not the caller's is Denied.
type Reminders interface {
	// Create makes a reminder. Faults: Invalid, NotFound, Denied, Conflict (task_session), Limit, Unavailable.
	Create(ctx context.Context, n NewReminder) (contract.Reminder, error)
	// List gives a conversation's reminders, also those that ended within a day. Faults: NotFound, Denied, Unavailable.
	List(ctx context.Context, f ReminderFilter) ([]contract.Reminder, error)
	// Cancel ends those that are active, and says how many. Idempotent. Faults: NotFound, Denied, Unavailable.
	Cancel(ctx context.Context, f ReminderFilter) (n int, err error)
}

// ReminderHandler is code that decides what a firing does. Reminders name it, so it is found again after a restart.
type ReminderHandler struct {
	Name string
	Run  func(ctx context.Context, t Tick) (Action, error)
}

// ReminderHandlers gives the handlers back, never nil, if they are sound. Faults: Invalid, telling everything that is wrong.
func ReminderHandlers(all ...ReminderHandler) ([]ReminderHandler, error) {
	var problems []error
	seen := map[string]bool{}
	for _, h := range all {
		switch err := contract.CheckID("name", h.Name); {
		case err != nil:
			problems = append(problems, fault.New(fault.Invalid, "reminder handler %q: %s", h.Name, fault.Public(err)))
		case h.Run == nil:
			problems = append(problems, fault.New(fault.Invalid, "reminder handler %s: Run is missing", h.Name))
		case seen[h.Name]:
			problems = append(problems, fault.New(fault.Invalid, "reminder handler %s: there are two", h.Name))
		}
		seen[h.Name] = true
	}
	return append([]ReminderHandler{}, all...), errors.Join(problems...)
}

// Tick is one firing of a reminder with a handler.
type Tick struct {
	Reminder  contract.Reminder
	FireCount int64 // of this firing, from 1
	// FollowUp sends a message into the conversation, once for each firing however often it is called or repeated.
	FollowUp func(ctx context.Context, message string) (contract.Delivery, error)
}

// Action is what a handler made of a firing.
type Action string

// The actions.
const (
	Stop      Action = "stop"      // there is to be no further firing
	Skip      Action = "skip"      // nothing was to be done this time
	Delivered Action = "delivered" // the conversation was told
)
