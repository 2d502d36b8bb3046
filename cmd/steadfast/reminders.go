package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// reminders are the commands about what wakes conversations later.
type reminders struct {
	List   remindersList   `cmd:"" help:"List the reminders of a session; at steadfast dev of all."`
	Create remindersCreate `cmd:"" help:"Wake a session later, once or again and again."`
	Cancel remindersCancel `cmd:"" help:"Cancel a reminder, all for a purpose, or all of a session."`
	Fire   remindersFire   `cmd:"" help:"Fire a reminder now at steadfast dev, as production would at its time."`
}

type remindersList struct {
	Session string `arg:"" optional:"" help:"The session's id; without it all that steadfast dev has."`
	Purpose string `help:"Only those for it." placeholder:"WORD"`
}

// Run implements the command.
func (l remindersList) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	all, raw, err := l.read(ctx, c)
	switch {
	case err != nil:
		return err
	case s.json:
		s.print(raw, "")
		return nil
	}
	return s.listReminders(all.Reminders)
}

func (l remindersList) read(ctx context.Context, c *cli) (contract.Reminders, json.RawMessage, error) {
	if l.Session == "" {
		if l.Purpose != "" || !client.Loopback(c.URL) {
			return contract.Reminders{}, nil, &client.Error{Code: "invalid", Message: "a session is due: only steadfast dev lists all reminders"}
		}
		return client.DevReminders(ctx, c.URL)
	}
	cl, err := c.client(ctx)
	if err != nil {
		return contract.Reminders{}, nil, err
	}
	return cl.Reminders(ctx, l.Session, l.Purpose)
}

func (s *surroundings) listReminders(all []contract.Reminder) error {
	if len(all) == 0 {
		s.note("no reminders")
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "REMINDER\tPURPOSE\tSTATUS\tNEXT\tFIRED\tSESSION")
	for _, r := range all {
		status := r.Status
		if r.Reason != "" {
			status += " (" + r.Reason + ")"
		}
		next := string(r.NextFireAt)
		if next == "" {
			next = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", r.ReminderID, r.Purpose, status, next, r.FireCount, r.SessionID)
	}
	return w.Flush()
}

type remindersCreate struct {
	Session  string `arg:"" help:"The session's id."`
	Prompt   string `arg:"" optional:"" help:"What the agent is to do when it is woken; or give --run."`
	Purpose  string `help:"A word to list and cancel by." default:"user_follow_up" placeholder:"WORD"`
	Delay    string `help:"Once, after this long: 20m, 2h, 3d, 1h30m." placeholder:"TIME"`
	At       string `help:"Once, then: 2026-03-29T10:00:00Z, or a wall time or a date in --timezone." placeholder:"WHEN"`
	Every    string `help:"Again and again, at this distance; at least 1m." placeholder:"TIME"`
	Cron     string `help:"Again and again, by five fields in quotes." placeholder:"FIELDS"`
	TimeZone string `name:"timezone" help:"IANA zone of --at and --cron; default UTC." placeholder:"ZONE"`
	Handler  string `name:"run" help:"A handler of the program instead of a prompt." placeholder:"NAME"`
	Until    string `help:"When the agent is to cancel it, in words." placeholder:"TEXT"`
	MaxFires int64  `help:"How often it fires at most." placeholder:"N"`
	Key      string `help:"The same key again is the same reminder." placeholder:"TEXT"`
}

func (n remindersCreate) request() contract.RemindRequest {
	return contract.RemindRequest{Key: n.Key, NewReminder: contract.NewReminder{
		Purpose: n.Purpose, Delay: contract.LooseText(n.Delay), At: n.At, Every: contract.LooseText(n.Every), Cron: n.Cron, TimeZone: n.TimeZone,
		Prompt: n.Prompt, Run: n.Handler, Until: n.Until, MaxFires: n.MaxFires,
	}}
}

// Run implements the command.
func (n remindersCreate) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	r, raw, err := cl.Remind(ctx, n.Session, n.request())
	if err != nil {
		return err
	}
	s.print(raw, "reminder %s: next at %s", r.ReminderID, r.NextFireAt)
	return nil
}

type remindersCancel struct {
	Session  string `arg:"" help:"The session's id."`
	Reminder string `arg:"" optional:"" help:"The reminder's id."`
	Purpose  string `help:"All for it." placeholder:"WORD"`
	All      bool   `help:"All of the session."`
}

// Run implements the command.
func (x remindersCancel) Run(c *cli, s *surroundings) error {
	given := 0
	for _, is := range []bool{x.Reminder != "", x.Purpose != "", x.All} {
		if is {
			given++
		}
	}
	if given != 1 {
		return &client.Error{Code: "invalid", Message: "exactly one of a reminder's id, --purpose and --all is due"}
	}
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	if x.Reminder != "" {
		if err := cl.CancelReminder(ctx, x.Session, x.Reminder); err != nil {
			return err
		}
		return s.answer(map[string]any{"reminderId": x.Reminder, "cancelled": 1}, "reminder %s is cancelled", x.Reminder)
	}
	n, raw, err := cl.CancelReminders(ctx, x.Session, x.Purpose)
	if err != nil {
		return err
	}
	s.print(raw, "reminders cancelled: %d", n)
	return nil
}

type remindersFire struct {
	ID string `arg:"" name:"id" help:"The reminder's id."`
}

// Run implements the command.
func (f remindersFire) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	if !client.Loopback(c.URL) {
		return &client.Error{Code: "invalid", Message: "reminders are fired by hand at steadfast dev only: " + c.URL + " is not on this machine"}
	}
	fired, raw, err := client.FireReminder(ctx, c.URL, f.ID)
	if err != nil {
		return err
	}
	line := fired.Outcome
	if fired.Action != "" {
		line += ", " + fired.Action
	}
	for _, id := range fired.SessionIDs {
		line += ", in session " + id
	}
	s.print(raw, "reminder %s: %s", fired.ReminderID, line)
	if fired.Error != "" {
		return &client.Error{Code: "reminder_failed", Message: "it failed: " + fired.Error}
	}
	return nil
}
