package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/task"
)

// TestADeletedConversationIsNotTold: what a service could not take before is not sent to it afterwards.
func TestADeletedConversationIsNotTold(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := play(helpful)
		s, take := serve(p)
		s.down = p.Clock.Now().Add(time.Hour)
		in, err := take.Do(ctx, webhook(p, said("a secret", "d-1")))
		noError(t, err, p.Drain(ctx))
		if s.tries == 0 {
			t.Fatal("the service was not asked")
		}
		_, err = flow.DeleteSession{Edges: p.Edges}.Do(ctx, flow.SessionOf{SessionID: in.Deliveries[0].SessionID, Caller: task.System("hooks")})
		noError(t, err)
		s.down, s.tries = time.Time{}, 0
		for range 10 {
			time.Sleep(time.Hour)
			noError(t, p.Recover(ctx))
		}
		if s.tries != 0 || len(s.told) != 0 {
			t.Errorf("told %d events in %d tries", len(s.told), s.tries)
		}
	})
}

// TestHandlersOfEventsRemind: in the conversation of the event, as its owner.
func TestHandlersOfEventsRemind(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := play(helpful)
		_, take := serve(p)
		set, err := channel.NewSet(channel.Channel{ID: "hooks", Events: channel.EventHandlers{
			TurnCompleted: func(ctx channel.Context, e contract.SessionEvent, _ contract.TurnCompleted) error {
				if ctx.Reminders == nil {
					return fault.New(fault.Invalid, "there are no reminders")
				}
				_, err := ctx.Reminders.Create(ctx, schedule.NewReminder{SessionID: ctx.SessionID, Key: "look again", NewReminder: contract.NewReminder{
					Purpose: "recheck", Delay: "2h", Prompt: "Look again.",
				}})
				return err
			},
		}})
		noError(t, err)
		p.Heard = flow.TellChannel{Edges: p.Edges, Channels: set, Later: p.Later, Alarms: p.Later}.Do
		in, err := take.Do(ctx, webhook(p, said("hello", "d-1")))
		noError(t, err, p.Drain(ctx))
		of := flow.RemindersOf{SessionID: in.Deliveries[0].SessionID, Caller: task.System("hooks")}
		made, err := flow.Reminders{Edges: p.Edges, Alarms: p.Later}.List(ctx, of)
		if noError(t, err); len(made.Reminders) != 1 || made.Reminders[0].Purpose != "recheck" {
			t.Errorf("reminders: %+v", made)
		}
	})
}

// TestAChannelIsToldOfSchedules: what came of a file's firing is told to the channel whose id is schedule, if the program has one.
func TestAChannelIsToldOfSchedules(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := play(helpful)
		var told []string
		set, err := channel.NewSet(channel.Channel{ID: "schedule", Events: channel.EventHandlers{
			SessionCompleted: func(ctx channel.Context, e contract.SessionEvent, d contract.SessionCompleted) error {
				told = append(told, ctx.Principal.ID+": "+d.Result)
				return nil
			},
		}})
		noError(t, err)
		p.Heard = flow.TellChannel{Edges: p.Edges, Channels: set, Later: p.Later}.Do
		files := fstest.MapFS{"heartbeat.md": {Data: []byte("---\ncron: \"*/30 * * * *\"\n---\nSay that all is well.\n")}}
		p.Program, err = schedule.NewSet(files)
		noError(t, err)
		_, err = p.RunSchedule().Do(ctx, contract.RunSchedule{ScheduleID: "heartbeat", At: contract.At(p.Clock.Now())})
		noError(t, err, p.Drain(ctx))
		if len(told) != 1 || !strings.HasPrefix(told[0], "schedule:heartbeat: ") {
			t.Errorf("told %q", told)
		}
	})
}

// TestAChannelsKeyLastsAsItsConversationDoes: also when that is longer than a row is kept.
func TestAChannelsKeyLastsAsItsConversationDoes(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := play(helpful)
		noError(t, hook(p, "hello", "d-0")(ctx), p.Drain(ctx))
		begun := channelled(p)
		for i := range 30 { // 600 days
			time.Sleep(20 * 24 * time.Hour)
			noError(t, hook(p, "still there?", fmt.Sprint("d-", i+1))(ctx), p.Drain(ctx))
		}
		if now := channelled(p); now != begun {
			t.Errorf("the key leads to %s, the conversation is %s", now, begun)
		}
	})
}

// TestWebhooksWithoutADeliveryID: one that is signed is one message however its header is written; of one that is verified otherwise
// nobody can know, and each is a message.
func TestWebhooksWithoutADeliveryID(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := play(helpful)
		_, take := serve(p)
		first := webhook(p, said("the disk is full", ""))
		again := webhook(p, said("the disk is full", ""))
		again.Headers["steadfast-signature"] = strings.ReplaceAll(again.Headers["steadfast-signature"], ",", " , ") + ",v1=00"
		a, err := take.Do(ctx, first)
		noError(t, err)
		b, err := take.Do(ctx, again)
		if noError(t, err); a.Deliveries[0].DeliveryID != b.Deliveries[0].DeliveryID {
			t.Errorf("the same webhook is %v and %v", a, b)
		}
		hooks, _ := take.Channels.Get("hooks")
		hooks.Verify = func(context.Context, channel.Request) (task.Principal, error) { return task.System("hooks"), nil }
		take.Channels, err = channel.NewSet(hooks)
		noError(t, err)
		bare := flow.WebhookIn{Channel: "hooks", Request: channel.Request{Body: first.Body}}
		a, err = take.Do(ctx, bare)
		noError(t, err)
		b, err = take.Do(ctx, bare)
		if noError(t, err); a.Deliveries[0].DeliveryID == b.Deliveries[0].DeliveryID {
			t.Errorf("two webhooks are one message, %v", a)
		}
	})
}

// TestAStopWordAgain: one that is delivered a second time does not stop what was said since.
func TestAStopWordAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := play(helpful)
		_, take := serve(p)
		says := func(text, delivery string) string {
			t.Helper()
			out, err := take.Do(ctx, webhook(p, said(text, delivery)))
			noError(t, err)
			return out.Deliveries[0].SessionID
		}
		for _, first := range []string{"d-1", ""} { // with a turn to stop, and without
			if first != "" {
				says("hello", first)
			}
			says("stop", "stop"+first)
			noError(t, p.Drain(ctx))
			says("and now?", "after"+first)
			talk := says("stop", "stop"+first)
			noError(t, p.Drain(ctx))
			events, err := p.Events(ctx, talk)
			if noError(t, err); events[len(events)-2].Type != "turn.completed" {
				t.Errorf("what was said after the stop ends in %s %s", events[len(events)-2].Type, events[len(events)-2].Data)
			}
		}
	})
}
