package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

var refund = skill.Skill{
	Name: "refund", Description: "Use when money is asked back.", Markdown: "Read terms.md. Ask for the receipt.",
	Files: map[string]string{"terms.md": "30 days"}, Scope: skill.Builtin,
}

// skilled puts skills on a stage.
func skilled(s *stage.Stage, list ...skill.Skill) {
	set, found := skill.NewSet(list...)
	s.Engine.Skills = turn.Skills{Set: set, Found: found}
}

// obedient does what the last words of the user say: `use NAME` activates, `read PATH` reads, anything else is answered.
func obedient(req model.Request) fake.Turn {
	last := req.Messages[len(req.Messages)-1]
	for _, r := range last.Results() {
		return fake.Say(fmt.Sprintf("%s: %s", r.Status, r.Content[0].Text))
	}
	text := last.Content[len(last.Content)-1].Text
	use := model.ToolUse{ID: fmt.Sprintf("call_%d", len(req.Messages))}
	if name, ok := strings.CutPrefix(text, "use "); ok {
		use.Name, use.Input = skill.ActivateName, mustJSON(map[string]string{"name": name})
		return fake.Calls("", use)
	}
	if path, ok := strings.CutPrefix(text, "read "); ok {
		use.Name, use.Input = skill.ReadName, mustJSON(map[string]string{"name": "refund", "path": path})
		return fake.Calls("", use)
	}
	return fake.Say("you said ", text)
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// answers gives what the session's turns answered.
func turnResults(t *testing.T, ctx context.Context, s *stage.Stage, sessionID string) (results []string) {
	t.Helper()
	list, err := s.Events(ctx, sessionID)
	must(t, err)
	for _, e := range list {
		var done contract.TurnCompleted
		if e.Type == done.EventType() {
			must(t, json.Unmarshal(e.Data, &done))
			results = append(results, done.Result)
		}
	}
	return results
}

func TestASkillInAChat(t *testing.T) {
	bubble(t, obedient, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, refund)
		for _, text := range []string{"use refund", "read terms.md", "use refund", "read ../secret", "use other"} {
			say(t, ctx, s, text)
		}
		cold := *s.Engine // knows nothing but what is stored
		cold.Remembered = nil
		s.Engine = &cold
		say(t, ctx, s, "use refund")
		const active = `success: The skill "refund" is already active: its instructions stand earlier in this conversation.`
		want := []string{
			"success: " + refund.Content(), "success: 30 days", active,
			`error: "../secret" leads out of the skill's folder: give a path relative to the skill's folder, such as references/guide.md`,
			`error: there is no skill "other"; there are: refund`, active,
		}
		if diff := cmp.Diff(want, turnResults(t, ctx, s, id)); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		req := s.Model.Requests()[0]
		if !strings.HasPrefix(req.System, "You are a helpful assistant.\n\nThe following skills") || !strings.HasSuffix(req.System, "</available_skills>") {
			t.Errorf("the instructions are %q", req.System)
		}
		must(t, s.Check(id))
	})
}

// TestWordsActivateNothing: a user who writes what an activation looks like has activated nothing.
func TestWordsActivateNothing(t *testing.T) {
	bubble(t, obedient, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, refund)
		say(t, ctx, s, refund.Content())
		say(t, ctx, s, "  "+refund.Content())
		say(t, ctx, s, "use refund")
		got := turnResults(t, ctx, s, id)
		if last := got[len(got)-1]; last != "success: "+refund.Content() {
			t.Errorf("activated after words alone: %q", last)
		}
		if first := s.Model.Requests()[0].Messages[0].PlainText(); strings.TrimSpace(first) != refund.Content() {
			t.Errorf("the model reads %q", first)
		}
	})
}

// TestACommandNeedsNoStepOfTheModel: the instructions stand in the history before the model is asked the first time.
func TestACommandNeedsNoStepOfTheModel(t *testing.T) {
	bubble(t, obedient, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, refund)
		for _, text := range []string{"/refund order 7", "/refund order 8", "/other thing", "use refund"} {
			say(t, ctx, s, text)
		}
		const active = `The skill "refund" is already active: its instructions stand earlier in this conversation.`
		want := []string{
			"you said " + refund.Content() + "\n\norder 7", "you said " + active + "\n\norder 8", "you said /other thing", "success: " + active,
		}
		if diff := cmp.Diff(want, turnResults(t, ctx, s, id)); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		list, err := s.Events(ctx, id)
		must(t, err)
		var received contract.MessageReceived
		for _, e := range list {
			if e.Type == received.EventType() {
				must(t, json.Unmarshal(e.Data, &received))
				break
			}
		}
		if received.Text != "/refund order 7" {
			t.Errorf("the log says %q, want what the user wrote", received.Text)
		}
		must(t, s.Check(id))
	})
}

// TestACommandInTheMiddleOfATurn: a message that a running turn takes activates too.
func TestACommandInTheMiddleOfATurn(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, refund)
		s.During = func() {
			s.During = nil
			_, err := s.Send(ctx, id, "/refund now", as(contract.Coalesce, "steer"))
			must(t, err)
		}
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Drain(ctx), s.Check(id))
		requests := s.Model.Requests()
		last := requests[len(requests)-1].Messages
		found := skill.Activations(last)
		if len(found) != 1 || found[0].Name != "refund" || found[0].Digest != refund.Digest() || len(requests) != 2 {
			t.Errorf("activations %+v in %d requests, want one in the second", found, len(requests))
		}
	})
}

// TestATaskIsBegunByCommand: a task in a session of its own does its words by the skill.
func TestATaskIsBegunByCommand(t *testing.T) {
	bubble(t, obedient, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, refund)
		made, err := flow.CreateTask{Edges: s.Edges}.Do(ctx, flow.CreateTaskIn{Caller: stage.User.ID, Request: "/refund order 9"})
		must(t, err, s.Drain(ctx))
		got, err := s.Edges.Table.Task(ctx, made.TaskID)
		must(t, err)
		if want := "you said " + refund.Content() + "\n\norder 9"; got.Status != task.Completed || got.Output != want {
			t.Errorf("the task is %s with %q, want %q", got.Status, got.Output, want)
		}
	})
}
