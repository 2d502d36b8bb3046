package turn_test

import (
	"context"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// scribing activates a skill when it is told to, in the same reply as the call or before it, and writes down.
func scribing(req model.Request) fake.Turn {
	last := req.Messages[len(req.Messages)-1]
	write := model.ToolUse{ID: "w", Name: "write_down", Input: mustJSON(stage.Note{Text: "b0"})}
	activate := model.ToolUse{ID: "s", Name: skill.ActivateName, Input: mustJSON(map[string]string{"name": "scribe"})}
	text := last.PlainText()
	switch {
	case len(last.Results()) == 1 && last.Results()[0].ID != "" && strings.Contains(last.Results()[0].Content[0].Text, "skill_content"):
		return fake.Calls("", write)
	case len(last.Results()) > 0:
		return fake.Say("Done.")
	case text == "together":
		return fake.Calls("", activate, write)
	case text == "by the skill":
		return fake.Calls("", activate)
	}
	return fake.Calls("", write)
}

// TestASkillApproves: only one of the program, only a tool that it names, and only once it stands in the conversation.
func TestASkillApproves(t *testing.T) {
	tests := []struct {
		name, say string
		scope     skill.Scope
		allowed   []string
		asks      bool
	}{
		{"it names the tool", "by the skill", skill.Builtin, []string{"look_up", "write_down"}, false},
		{"it names another", "by the skill", skill.Builtin, []string{"look_up"}, true},
		{"it names some inputs", "by the skill", skill.Builtin, []string{"write_down(b*)"}, true},
		{"a user sent it", "by the skill", skill.Upload, []string{"write_down"}, true},
		{"it is asked for together with the call", "together", skill.Builtin, []string{"write_down"}, true},
		{"it is not active", "write", skill.Builtin, []string{"write_down"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				p := play(scribing)
				p.Engine.Tools = tool.Registry{p.Engine.Tools[0], tool.RequireApproval(p.Engine.Tools[1])}
				skilled(p.Stage, skill.Skill{Name: "scribe", Description: "Writes down.", Markdown: "Write it down.", Scope: tt.scope, AllowedTools: tt.allowed})
				noError(t, send(p, id, tt.say, contract.Preempt)(ctx), p.Drain(ctx))
				if asks := p.State(id).Status() == "waiting_approval"; asks != tt.asks {
					t.Errorf("a person is asked: %t, want %t", asks, tt.asks)
				}
				if ran := p.Ran.Of("write_down", "b0") == 1; ran == tt.asks {
					t.Errorf("it ran: %t", ran)
				}
				if !tt.asks {
					noError(t, p.Check(id))
				}
			})
		})
	}
}

// TestExploreApprovedOnce: a tool that needs a person, must not run twice, and is named by a skill: however the turn breaks, it runs
// once at most.
func TestExploreApprovedOnce(t *testing.T) {
	for _, say := range []string{"by the skill", "write"} {
		t.Run(say, func(t *testing.T) {
			fake.Explore(t, fake.Flow{Name: "once and approved, " + say, Pairs: 10, Seed: 7, New: func() *fake.Run {
				p := play(scribing)
				p.Engine.Tools = tool.Registry{p.Engine.Tools[0], tool.Once(tool.RequireApproval(p.Engine.Tools[1]))}
				skilled(p.Stage, skill.Skill{Name: "scribe", Description: "Writes down.", Markdown: "Write it down.", Scope: skill.Builtin, AllowedTools: []string{"write_down"}})
				p.Acts = []act{send(p, id, say, contract.Preempt)}
				if say == "write" {
					p.Acts = append(p.Acts, whenAsked(p, func(action string) act { return settled(decide(p, action, contract.Approve, stage.User)) }))
				}
				return p.Run(nil, approvedOnce(p, "b0"))
			}})
		})
	}
}
