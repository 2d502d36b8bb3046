// Package schedules is what the agent does by the clock: a Markdown file for each schedule with a prompt, and handlers written in Go.
// The files lie beside this one: schedules/heartbeat.md is the schedule heartbeat.
package schedules

import (
	"context"
	"embed"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// Files are all files of this folder; those that end in .md are schedules.
//
//go:embed *
var Files embed.FS

// Set gives the schedules that deploy. Faults: Invalid, telling everything that is wrong.
func Set() (schedule.Set, error) { return schedule.NewSet(Files, Handlers()...) }

// notes is the channel of the example below.
var notes = channel.Channel{ID: "notes"}

// Handlers are the schedules written in Go. Add yours here. A handler decides what is to be done: it calls tools without a model, or
// hands work into a channel, where a conversation goes on from one firing to the next.
func Handlers() []schedule.Handler {
	return []schedule.Handler{{ID: "friday-notes", Cron: "0 16 * * 5", Run: fridayNotes}}
}

// fridayNotes asks for the week's notes in one conversation that lasts, with the time in the message.
func fridayNotes(ctx context.Context, run schedule.Run) error {
	now, err := run.CallTool(ctx, "get_current_time", nil)
	if err != nil {
		return err
	}
	_, err = run.Receive(ctx, notes, contract.Message{
		ContinuationToken: "friday", Text: "It is " + string(now) + ". Which open points do you still have from last week? Answer in three lines.",
	})
	if err != nil || run.Host.Reminders == nil {
		return err
	}
	// On Monday the same conversation is asked again: one reminder, however many Fridays it has seen.
	here := schedule.ReminderFilter{Channel: notes.ID, ContinuationToken: "friday", Purpose: "monday"}
	if _, err := run.Host.Reminders.Cancel(ctx, here); err != nil {
		return err
	}
	_, err = run.Host.Reminders.Create(ctx, schedule.NewReminder{
		Channel: here.Channel, ContinuationToken: here.ContinuationToken,
		NewReminder: contract.NewReminder{Purpose: here.Purpose, Delay: "2d17h", Prompt: "It is Monday. Which of the open points comes first? Answer in one line."},
	})
	return err
}
