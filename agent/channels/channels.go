// Package channels is how other systems talk with the agent: what they send becomes a message of a conversation, and they are told what
// happens there.
package channels

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Config is what the deployment knows of other systems.
type Config struct {
	Secret func(ctx context.Context) ([]byte, error) // signs webhooks in both directions; nil: none are taken and none are sent
	URL    string                                    // who is told what happens; "": nobody
}

// Set gives the channels. Faults: Invalid, telling everything that is wrong.
func Set(c Config) (channel.Set, error) { return channel.NewSet(Channels(c)...) }

// Channels are the agent's channels. Add yours here.
func Channels(c Config) []channel.Channel { return []channel.Channel{hooks(c)} }

// said is a webhook of the channel hooks.
type said struct {
	ID    string            `json:"id"`    // the sender's own name of the message: sent again it is the same message
	Key   string            `json:"key"`   // names the conversation, such as pr:owner/repo#1
	Text  string            `json:"text"`  // what is said in it
	Files map[string]string `json:"files"` // texts for its workspace, by path

	Remind string `json:"remind"` // the conversation looks again after this long, such as 2h; "": it does not
	Closed bool   `json:"closed"` // what it is about is over: it is not to look again
}

// hooks is an example that is whole: signed webhooks in, and signed webhooks out that tell what became of each. A message comes back by
// its id either in nudge.delivered, when the running turn took it, or in the deliveryIds of a message.received, when a turn began
// with it.
func hooks(c Config) channel.Channel {
	ch := channel.Channel{ID: "hooks", StopWords: []string{"stop", "cancel"}}
	if c.Secret == nil {
		return ch
	}
	ch.Verify = channel.Signed(c.Secret, task.System("hooks"))
	ch.Route = func(ctx channel.Context, r channel.Request) error {
		m, err := channel.Decode[said](r)
		if err == nil {
			err = m.check()
		}
		if err != nil {
			return err
		}
		d, err := ctx.Send(contract.Message{ContinuationToken: m.Key, Text: m.Text, DeliveryID: m.ID, Files: m.Files})
		if err != nil {
			return err
		}
		return m.remind(ctx, d)
	}
	if c.URL != "" {
		ch.Events = tell(&channel.Webhook{URL: c.URL, Secret: c.Secret, Allow: channel.Own(c.URL), Channel: ch.ID})
	}
	return ch
}

// check refuses what could only be done in part: what is refused sends nothing.
func (m said) check() error {
	if m.Remind == "" {
		return nil
	}
	_, err := schedule.ParseDelay(m.Remind)
	return err
}

// remind has the conversation look again, or no more. A webhook that comes twice makes one reminder.
func (m said) remind(ctx channel.Context, d contract.Delivery) error {
	switch {
	case d.SessionID == "" || ctx.Reminders == nil:
		return nil
	case m.Closed:
		_, err := ctx.Reminders.Cancel(ctx, schedule.ReminderFilter{SessionID: d.SessionID, Purpose: "recheck"})
		return err
	case m.Remind == "":
		return nil
	}
	_, err := ctx.Reminders.Create(ctx, schedule.NewReminder{SessionID: d.SessionID, Key: d.DeliveryID, NewReminder: contract.NewReminder{
		Purpose: "recheck", Delay: contract.LooseText(m.Remind), Prompt: "Look at this again. Say something only if there is news.",
	}})
	return err
}

// tell posts what a system that follows a conversation wants to know.
func tell(w *channel.Webhook) channel.EventHandlers {
	return channel.EventHandlers{
		MessageReceived: func(ctx channel.Context, e contract.SessionEvent, _ contract.MessageReceived) error {
			return w.Post(ctx, e)
		},
		NudgeDelivered: func(ctx channel.Context, e contract.SessionEvent, _ contract.NudgeDelivered) error {
			return w.Post(ctx, e)
		},
		ApprovalRequested: func(ctx channel.Context, e contract.SessionEvent, _ contract.ApprovalRequested) error {
			return w.Post(ctx, e)
		},
		ArtifactTagged: func(ctx channel.Context, e contract.SessionEvent, _ contract.ArtifactTagged) error {
			return w.Post(ctx, e)
		},
		TurnCompleted: func(ctx channel.Context, e contract.SessionEvent, _ contract.TurnCompleted) error {
			return w.Post(ctx, e)
		},
		TurnFailed: func(ctx channel.Context, e contract.SessionEvent, _ contract.TurnFailed) error { return w.Post(ctx, e) },
	}
}
