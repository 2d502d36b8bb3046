package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// delegating is a world whose agent has a researcher look something up.
func delegating() *stage.Play {
	p := play(func(req model.Request) fake.Turn {
		switch last := req.Messages[len(req.Messages)-1]; {
		case len(last.Results()) > 0:
			return fake.Say("Found: " + last.Results()[0].Content[0].Text)
		case req.System == "research":
			return fake.Calls("", model.ToolUse{ID: "look", Name: "look_up", Input: json.RawMessage(`{"text":"a"}`)})
		}
		return fake.Calls("", model.ToolUse{ID: "c1", Name: "researcher", Input: json.RawMessage(`{"request":"find a"}`)})
	})
	p.Engine.Tools = tool.Registry{loop.Subagent{Name: "researcher", Description: "Finds.", Instructions: "research", Tools: []tool.Tool{p.Engine.Tools[0]}}}
	p.Acts = []act{send(p, id, "find it", contract.Preempt)}
	return p
}

// delegations tells what the log says of subagents, and what the turn used.
func delegations(p *stage.Play) string {
	out := ""
	for e, err := range p.Edges.Table.SessionEvents(context.Background(), id, 0) {
		if err != nil {
			return err.Error()
		}
		switch e.Type {
		case "subagent.called", "subagent.completed":
			var d struct{ ID, Name, Status string }
			_ = json.Unmarshal(e.Data, &d)
			out += strings.TrimSpace(fmt.Sprintln(e.Type, d.ID, d.Name, d.Status)) + "\n"
		case "turn.completed":
			var d contract.TurnCompleted
			_ = json.Unmarshal(e.Data, &d)
			out += fmt.Sprintln(d.Result, d.Usage.InputTokens > 0)
		}
	}
	return out
}

// TestExploreATurnWithASubagent kills, cuts and repeats at every call: the answer is the same, and what the subagent used is counted.
func TestExploreATurnWithASubagent(t *testing.T) {
	var calm contract.Usage
	fake.Explore(t, fake.Flow{Name: "a turn with a subagent", Pairs: 20, New: func() *fake.Run {
		p := delegating()
		return p.Run(nil, func() error {
			got := delegations(p)
			if !strings.Contains(got, "subagent.called c1 researcher\n") || !strings.Contains(got, "subagent.completed c1 researcher success\n") ||
				!strings.HasSuffix(got, "Found: Found: look_up did a true\n") {
				return fmt.Errorf("the log says:\n%s", got)
			}
			used := usageOf(p)
			if calm.InputTokens == 0 {
				calm = used
			}
			if used.InputTokens < calm.InputTokens {
				return fmt.Errorf("the turn used %+v, undisturbed %+v", used, calm)
			}
			return p.Check(id)
		})
	}})
}

func usageOf(p *stage.Play) contract.Usage {
	var last contract.TurnCompleted
	for e, err := range p.Edges.Table.SessionEvents(context.Background(), id, 0) {
		if err == nil && e.Type == last.EventType() {
			_ = json.Unmarshal(e.Data, &last)
		}
	}
	return last.Usage
}

// TestAStopReachesASubagent: what it runs ends, and the turn is cancelled.
func TestAStopReachesASubagent(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a subagent that is stopped", Modes: []fake.Mode{fake.KillAfter}, New: func() *fake.Run {
		p := delegating()
		p.Mid = []act{func(context.Context) error { return nil }, stop(p, id, false)} // while the subagent's model answers
		return p.Run(nil, func() error {
			s := p.State(id)
			if s.Phase != session.Idle || strings.Contains(delegations(p), "Found") && s.StopSeq >= s.TurnSeq {
				return fmt.Errorf("phase %s, stopped at %d of turn %d:\n%s", s.Phase, s.StopSeq, s.TurnSeq, delegations(p))
			}
			return p.Check(id)
		})
	}})
}
