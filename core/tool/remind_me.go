package tool

import (
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// remindInput is what the model says. Which conversation it is stands in the Context.
type remindInput struct {
	Action     string `json:"action,omitempty" jsonschema:"what to do, create if absent" enum:"create,list,cancel"`
	Purpose    string `json:"purpose,omitempty" jsonschema:"a short name to list and cancel by, user_follow_up if absent"`
	Delay      string `json:"delay,omitempty" jsonschema:"once, after this long: 20m, 2h, 3d, 1h30m"`
	At         string `json:"at,omitempty" jsonschema:"once, then: 2026-03-29T10:00:00Z, or a wall time in timezone"`
	Every      string `json:"every,omitempty" jsonschema:"again and again, at this distance: 30m, 1d; at least 1m"`
	Cron       string `json:"cron,omitempty" jsonschema:"again and again, by five-field cron in timezone"`
	TimeZone   string `json:"timezone,omitempty" jsonschema:"IANA name for at and cron, UTC if absent"`
	Prompt     string `json:"prompt,omitempty" jsonschema:"what you are to do when you are woken; read the present state then, do not repeat it here"`
	Until      string `json:"until,omitempty" jsonschema:"when a repeated reminder is to be cancelled, in words"`
	MaxFires   int64  `json:"maxFires,omitempty" jsonschema:"how often a repeated reminder fires at most"`
	ReminderID string `json:"reminderId,omitempty" jsonschema:"the one to cancel; all of the purpose if absent"`
}

// reminded is what it answers to create, cancelled to cancel; list answers a contract.Reminders.
type (
	reminded struct {
		ReminderID string           `json:"reminderId"`
		NextFireAt contract.Instant `json:"nextFireAt"`
	}
	cancelled struct {
		Cancelled int `json:"cancelled"`
	}
)

// RemindMe is the built-in tool remind_me: the model has itself woken in this conversation later, and lists and cancels what it set.
// The same call again is the same reminder. Where the host has no reminders, or the session takes no follow-ups, it says so.
func RemindMe() Tool {
	return New("remind_me", "Wakes you in this conversation later, once or again and again. Lists and cancels such reminders.", remindMe)
}

func remindMe(ctx Context, in remindInput) (any, error) {
	if ctx.Reminders == nil {
		return nil, fault.New(fault.Invalid, "reminders are disabled on this host")
	}
	which := schedule.ReminderFilter{SessionID: ctx.Session.ID, Purpose: in.Purpose, ReminderID: in.ReminderID}
	switch in.Action {
	case "", "create":
		return createReminder(ctx, in)
	case "list":
		all, err := ctx.Reminders.List(ctx, which)
		return contract.Reminders{Reminders: append([]contract.Reminder{}, all...)}, err
	case "cancel":
		if in.Purpose == "" && in.ReminderID == "" {
			return nil, fault.New(fault.Invalid, "cancel: reminderId or purpose is due")
		}
		n, err := ctx.Reminders.Cancel(ctx, which)
		return cancelled{n}, err
	}
	return nil, fault.New(fault.Invalid, "action %q: want create, list or cancel", in.Action)
}

func createReminder(ctx Context, in remindInput) (any, error) {
	if in.Purpose == "" {
		in.Purpose = "user_follow_up"
	}
	r, err := ctx.Reminders.Create(ctx, schedule.NewReminder{
		SessionID: ctx.Session.ID, Key: ctx.ToolUseID,
		NewReminder: contract.NewReminder{
			Purpose: in.Purpose, Delay: contract.LooseText(in.Delay), At: in.At, Every: contract.LooseText(in.Every), Cron: in.Cron, TimeZone: in.TimeZone,
			Prompt: in.Prompt, Until: in.Until, MaxFires: in.MaxFires,
		},
	})
	return reminded{r.ReminderID, r.NextFireAt}, err
}
