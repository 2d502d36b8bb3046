package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestMoreCallsThanPeopleAreAskedAbout: of a reply with 45 of them 40 wait, and the model reads of the others that they did not. All that
// ends the turn still fits into one write, whatever else the step did.
func TestMoreCallsThanPeopleAreAskedAbout(t *testing.T) {
	const calls, most = 45, 40
	decided := func(v contract.Verdict) func(p *stage.Play) act {
		return func(p *stage.Play) act {
			return func(ctx context.Context) error {
				for n := range most {
					if err := decide(p, fmt.Sprint("w", n), v, stage.User)(ctx); err != nil {
						return err
					}
				}
				return nil
			}
		}
	}
	tests := []struct {
		name string
		then func(p *stage.Play) act
		ends string
		runs int
	}{
		{"approved", decided(contract.Approve), "turn.completed", most},
		{"denied", decided(contract.Deny), "turn.completed", 0},
		{"stopped", func(p *stage.Play) act { return stop(p, id, false) }, "turn.failed cancelled", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				p := taggingBeside(calls)
				noError(t, send(p, id, "go", contract.Preempt)(ctx), p.Drain(ctx))
				if n := p.State(id).ApprovalsOpen; n != most {
					t.Fatalf("%d calls wait, want %d", n, most)
				}
				refused := 0
				for _, e := range told(t, p.Stage, id, "action.result") {
					if strings.Contains(e, "no more may") {
						refused++
					}
				}
				if refused != calls-most {
					t.Errorf("%d calls were refused, want %d", refused, calls-most)
				}
				noError(t, tt.then(p)(ctx), p.Rest(ctx, id), p.Check(id))
				if got := approvals(p); !strings.HasSuffix(got, tt.ends) || strings.Count(got, "asked") != most {
					t.Errorf("the log says %s", got)
				}
				runs := 0
				for n := range calls {
					runs += p.Ran.Of("write_down", fmt.Sprint("b", n))
				}
				if runs != tt.runs {
					t.Errorf("%d calls ran, want %d", runs, tt.runs)
				}
			})
		})
	}
}

// taggingBeside is a world whose model calls, beside n calls that wait, for as many files to be tagged as a step may.
func taggingBeside(n int) *stage.Play {
	const files = 20
	p := play(func(req model.Request) fake.Turn {
		if len(req.Messages) > 1 {
			return fake.Say("All done.")
		}
		var uses []model.ToolUse
		for i := range files {
			uses = append(uses, model.ToolUse{ID: fmt.Sprint("t", i), Name: "tag_artifact", Input: json.RawMessage(fmt.Sprintf(`{"path":"f%d","artifact":"a"}`, i))})
		}
		for i := range n {
			uses = append(uses, model.ToolUse{ID: fmt.Sprint("w", i), Name: "write_down", Input: json.RawMessage(fmt.Sprintf(`{"text":"b%d"}`, i))})
		}
		return fake.Calls("", uses...)
	})
	p.Engine.Tools = append(tool.Registry{tool.RequireApproval(p.Engine.Tools[1])}, tool.FileTools()...)
	for i := range files {
		if err := p.Edges.Table.PutFile(context.Background(), id, fmt.Sprint("f", i), "x", 0); err != nil {
			panic(err)
		}
	}
	return p
}
