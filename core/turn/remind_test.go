package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// reminding asks remind_me in its first answer, and tells what it was woken with.
func reminding(req model.Request) fake.Turn {
	last := req.Messages[len(req.Messages)-1]
	if text := last.PlainText(); strings.HasPrefix(text, "remind") {
		return fake.Calls("", model.ToolUse{ID: "call_1", Name: "remind_me", Input: json.RawMessage(`{"delay":"2h","prompt":"Stretch."}`)})
	}
	return fake.Say("ok")
}

// TestExploreRemindMe: wherever the worker dies while the tool runs, the conversation is woken once.
func TestExploreRemindMe(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a model has itself woken", Pairs: 20, Seed: 3, New: func() *fake.Run {
		p := play(reminding)
		p.Engine.Tools, p.Engine.Alarms = tool.Registry{tool.RemindMe()}, p.Later
		p.Acts = []act{send(p, "s", "remind me", contract.Coalesce)}
		return p.Run(nil, func() error { return wokenOnce(p) })
	}})
}

func wokenOnce(p *stage.Play) error {
	p.Dynamo.World = nil
	ctx, fired := context.Background(), 0
	for _, item := range p.Dynamo.Items("REMINDER#") {
		parsed, _ := stage.Parse(item)
		r, err := p.Edges.Table.Reminder(ctx, parsed.Parts[0])
		if err != nil || r.Status != schedule.Done || r.FireCount != 1 {
			return fmt.Errorf("the reminder is %+v, %v", r, err)
		}
		fired++
	}
	story := p.Story("s")
	woken := strings.Count(story, "message.received Stretch.") + strings.Count(story, "nudge.delivered Stretch.") // the turn may still be open
	if fired != 1 || woken != 1 || len(p.Alarm.Names()) > 0 {
		return fmt.Errorf("%d reminders, alarms %v, the story:\n%s", fired, p.Alarm.Names(), story)
	}
	return p.Check("s")
}

// TestRemindMeInATask: a task's session takes no follow-ups, and the model is told so; a host without reminders says that.
func TestRemindMeInATask(t *testing.T) {
	for want, alarms := range map[string]bool{"a task session cannot receive follow-ups": true, "reminders are disabled on this host": false} {
		p := play(reminding)
		p.Engine.Tools = tool.Registry{tool.RemindMe()}
		if alarms {
			p.Engine.Alarms = p.Later
		}
		p.Acts = []act{publish(p, request("t-1", "", "remind me"))}
		if err := p.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if story := p.Story("task-t-1"); !strings.Contains(story, want) {
			t.Errorf("no %q in:\n%s", want, story)
		}
	}
}
