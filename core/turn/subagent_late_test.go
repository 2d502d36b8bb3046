package turn_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// TestASubagentThatTakesTooLong is told to have failed, once, before its call has; what it does afterwards is not told any more.
func TestASubagentThatTakesTooLong(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := play(func(req model.Request) fake.Turn {
			switch last := req.Messages[len(req.Messages)-1]; {
			case req.System == "research":
				return fake.Say("I think.").Pausing(time.Hour)
			case len(last.Results()) > 0:
				return fake.Say("Found: " + last.Results()[0].Content[0].Text)
			}
			return fake.Calls("", model.ToolUse{ID: "c1", Name: "researcher", Input: json.RawMessage(`{"request":"find a"}`)})
		})
		p.Engine.Limits.Tool = time.Second
		p.Engine.Tools = tool.Registry{loop.Subagent{Name: "researcher", Description: "Finds.", Instructions: "research"}}
		noError(t, send(p, id, "find it", contract.Preempt)(ctx), p.Drain(ctx), p.Check(id))
		want := "subagent.called c1 researcher\nsubagent.completed c1 researcher error\nFound: the tool did not finish within 1s true\n"
		if diff := cmp.Diff(want, delegations(p)); diff != "" {
			t.Errorf("the log (-want +got):\n%s", diff)
		}
	})
}
