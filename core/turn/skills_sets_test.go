package turn_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestToolsThatWerePicked: who picks tools gets skills only with activate_skill among them.
func TestToolsThatWerePicked(t *testing.T) {
	for _, tc := range []struct {
		name  string
		tools []string
		want  []string
		asked string // what the model is asked after /refund
	}{
		{"none picked", nil, []string{"look_up", "write_down", "activate_skill", "read_skill_file"}, refund.Content()},
		{"no tools", []string{}, nil, "/refund"},
		{"one tool", []string{"look_up"}, []string{"look_up"}, "/refund"},
		{"with skills", []string{"activate_skill", "look_up"}, []string{"look_up", "activate_skill", "read_skill_file"}, refund.Content()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, obedient, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				skilled(s, refund)
				_, err := s.Edges.Table.CreateSession(ctx, session.Config{SessionID: id, UserID: stage.User.ID, Tools: tc.tools})
				must(t, err)
				say(t, ctx, s, "/refund")
				req := s.Model.Requests()[0]
				var names []string
				for _, spec := range req.Tools {
					names = append(names, spec.Name)
				}
				if diff := cmp.Diff(tc.want, names); diff != "" {
					t.Errorf("tools (-want +got):\n%s", diff)
				}
				if got := req.Messages[0].PlainText(); got != tc.asked {
					t.Errorf("the model is asked %q, want %q", got, tc.asked)
				}
				if has := strings.Contains(req.System, "<available_skills>"); has != (len(tc.want) > 2) {
					t.Errorf("catalogue %t in %q", has, req.System)
				}
			})
		})
	}
}

// TestASkillForUsersAlone: the model is not told of it; once a user calls it, in that very turn, its files can be read.
func TestASkillForUsersAlone(t *testing.T) {
	reads := func(req model.Request) fake.Turn {
		last := req.Messages[len(req.Messages)-1]
		if text := last.PlainText(); strings.HasPrefix(text, "<skill_content") && strings.HasSuffix(text, "now") {
			return fake.Calls("", model.ToolUse{ID: "now", Name: skill.ReadName, Input: mustJSON(map[string]string{"name": "refund", "path": "terms.md"})})
		}
		return obedient(req)
	}
	bubble(t, reads, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		hidden := refund
		hidden.HiddenFromModel = true
		skilled(s, hidden)
		for _, text := range []string{"read terms.md", "/refund now", "read terms.md", "use refund"} {
			say(t, ctx, s, text)
		}
		want := []string{`error: there is no skill "refund"`, "success: 30 days", "success: 30 days"}
		got := turnResults(t, ctx, s, id)
		if diff := cmp.Diff(want, got[:3]); diff != "" || !strings.HasPrefix(got[3], "error: ") {
			t.Errorf("answers (-want +got):\n%s and %q", diff, got[3])
		}
		req := s.Model.Requests()[0]
		if strings.Contains(req.System, "skill") || len(req.Tools) == 0 || req.Tools[len(req.Tools)-1].Name != skill.ReadName {
			t.Errorf("the model is told %q, tools %v", req.System, req.Tools)
		}
	})
}

// TestABrokenSkillIsReportedOnce: when the session begins, and before its first turn.
func TestABrokenSkillIsReportedOnce(t *testing.T) {
	bubble(t, obedient, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, found, _ := skill.Parse("agent/skills/broken/SKILL.md", "broken", []byte("---\nname: broken\n---\nDo."))
		skilled(s, refund)
		s.Engine.Skills.Found = found
		say(t, ctx, s, "hello")
		say(t, ctx, s, "again")
		list, err := s.Events(ctx, id)
		must(t, err)
		var types []string
		for _, e := range list {
			types = append(types, e.Type)
			if e.Type == "skills.reported" {
				want := `{"findings":[{"severity":"error","path":"agent/skills/broken/SKILL.md","line":1,"code":"desc-missing","text":"the description is missing","skipped":true}]}`
				if string(e.Data) != want {
					t.Errorf("reported %s, want %s", e.Data, want)
				}
			}
		}
		if got := strings.Join(types, " "); !strings.HasPrefix(got, "session.started skills.reported turn.started message.received") || strings.Count(got, "skills.reported") != 1 {
			t.Errorf("events: %s", got)
		}
		must(t, s.Check(id))
	})
}

// TestABrokenSkillIsReportedWithTheFirstTurn: not with messages that were stopped before any began.
func TestABrokenSkillIsReportedWithTheFirstTurn(t *testing.T) {
	bubble(t, obedient, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, s.Engine.Skills.Found, _ = skill.Parse("agent/skills/broken/SKILL.md", "broken", []byte("---\nname: broken\n---\nDo."))
		_, err := s.Send(ctx, id, "never mind")
		must(t, err, stop(&stage.Play{Stage: s}, id, false)(ctx), s.Rest(ctx, id))
		say(t, ctx, s, "hello")
		if got := len(told(t, s, id, "skills.reported")); got != 1 {
			t.Errorf("reported %d times", got)
		}
	})
}

// sender gives skills that were sent, or fails.
type sender struct {
	list  []skill.Skill
	found []skill.Diagnostic
	err   error
	asked int
}

func (f *sender) Of(_ context.Context, sessionID string, p contract.Principal) ([]skill.Skill, []skill.Diagnostic, error) {
	f.asked++
	if sessionID != id || p != stage.User {
		return nil, nil, fault.New(fault.Internal, "asked for %s of %v", sessionID, p)
	}
	return f.list, f.found, f.err
}

func TestSkillsThatWereSent(t *testing.T) {
	bubble(t, obedient, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, refund)
		other, rival := refund, refund
		other.Name, other.Scope, other.Path = "other", skill.Upload, "uploads/other/SKILL.md"
		rival.Scope, rival.Markdown, rival.Path = skill.Upload, "Pay at once.", "uploads/refund/SKILL.md"
		sent := &sender{list: []skill.Skill{other, rival}}
		s.Engine.Skills.Uploads = sent
		say(t, ctx, s, "use refund")
		say(t, ctx, s, "use other")
		say(t, ctx, s, "/refund@upload")
		want := []string{"success: " + refund.Content(), "success: " + other.Content(), "you said " + rival.Content()}
		if diff := cmp.Diff(want, turnResults(t, ctx, s, id)); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		list, err := s.Events(ctx, id)
		must(t, err)
		if list[1].Type != "skills.reported" || !strings.Contains(string(list[1].Data), `"code":"name-collision"`) {
			t.Errorf("after session.started comes %s %s, want the collision", list[1].Type, list[1].Data)
		}
		if sent.asked != 3 {
			t.Errorf("asked %d times in three ownerships", sent.asked)
		}
		sent.err = fault.New(fault.Unavailable, "away")
		_, err = s.Send(ctx, id, "hello")
		must(t, err)
		if err := s.Engine.Do(ctx, id); !fault.Retryable(err) {
			t.Errorf("Do = %v, want to be delivered again", err)
		}
		sent.err = nil
		s.Clock.Advance(time.Minute)
		must(t, s.Rest(ctx, id), s.Check(id))
	})
}

// TestTheCatalogueIsAlwaysThere: also after the conversation was made shorter, and as it is then.
func TestTheCatalogueIsAlwaysThere(t *testing.T) {
	bubble(t, summing(obedient), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, refund)
		room(s, 3000)
		for range 15 {
			say(t, ctx, s, strings.Repeat("words ", 50))
		}
		changed := refund
		changed.Name, changed.Description = "apology", "Use when something went wrong."
		skilled(s, refund, changed)
		say(t, ctx, s, "hello")
		summaries, others := asked(s)
		last := others[len(others)-1]
		if len(summaries) == 0 || !strings.Contains(last.System, "<name>refund</name>") || !strings.Contains(last.System, "<name>apology</name>") {
			t.Errorf("after %d summaries the instructions are %q", len(summaries), last.System)
		}
		for _, r := range summaries {
			if strings.Contains(r.System, "available_skills") || len(r.Tools) > 0 {
				t.Error("a summary is asked for with skills")
			}
		}
	})
}
