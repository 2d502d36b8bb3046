package turn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// letters is text that nothing makes shorter.
func letters(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(rand.IntN(26))
	}
	return string(b)
}

// TestATurnTooLargeForThePackagesRowEnds: whatever a turn brings, its first owner ends it, with all that its tools have finished. The
// package goes on with a shorter conversation, or, where even that does not fit, with what there was before.
func TestATurnTooLargeForThePackagesRowEnds(t *testing.T) {
	fetches := func(req model.Request) fake.Turn {
		if last := req.Messages[len(req.Messages)-1]; last.PlainText() != "fetch" {
			return fake.Say("done")
		}
		var uses []model.ToolUse
		for n := range 8 {
			uses = append(uses, call(n, "fetch", fmt.Sprint(n)))
		}
		return fake.Calls("", uses...)
	}
	stops := func(s *stage.Stage) func() {
		return func() { must(t, stop(&stage.Play{Stage: s}, id, false)(t.Context())) }
	}
	tests := []struct {
		name  string
		setup func(s *stage.Stage)
		says  []string
		ends  string
		want  string // what the package's conversation ends with
	}{
		{"large results, and a limit", func(s *stage.Stage) { s.Engine.Limits.Steps = 1 }, []string{"fetch"}, "turn.completed", "the limit of 1 steps"},
		{"large results, and a stop", func(s *stage.Stage) {
			s.Acting = func(tc tool.Context) { stops(s)(); takes(tc, 5*time.Second) }
		}, []string{"fetch"}, "cancelled", "fetch"},
		{"a large question", func(*stage.Stage) {}, []string{letters(120_000), letters(120_000), letters(120_000)}, "turn.completed", "before"},
		{"a large question, and a stop", func(s *stage.Stage) { s.During = stops(s) }, []string{letters(120_000), letters(120_000), letters(120_000)}, "cancelled", "before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, fetches, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				s.Engine.Strands = true
				s.Engine.Tools = tool.Registry{tool.Limit(tool.New("fetch", "Fetches.", func(tc tool.Context, in stage.Note) (string, error) {
					if in.Text == "7" && s.Acting != nil {
						s.Acting(tc)
					}
					return letters(90_000), nil
				}), 1<<20)}
				say(t, ctx, s, "before")
				before := s.State(id).Fence
				tt.setup(s)
				for n, text := range tt.says {
					_, err := s.Send(ctx, id, text, as(contract.Coalesce, fmt.Sprint("dlv_", n)))
					must(t, err)
				}
				must(t, s.Drain(ctx), s.Check(id))
				if ends := told(t, s, id, "turn.completed", "turn.failed"); len(ends) != 2 || !strings.Contains(ends[1], tt.ends) {
					t.Errorf("the turns ended %.300v", ends)
				}
				if n := s.State(id).Fence - before; n != 1 {
					t.Errorf("%d owners ended it", n)
				}
				finished := 0
				for _, e := range told(t, s, id, "action.result") {
					if strings.Contains(e, `"success"`) {
						finished++
					}
				}
				if want := len(tt.says) % 3 * 7; finished < want {
					t.Errorf("%d results are kept", finished)
				}
				h, _, err := s.Edges.Table.PackageSnapshot(ctx, id)
				must(t, err)
				if _, changed := snapshot.Repair(h.Messages); changed || !strings.Contains(jsonOfAny(h.Messages), tt.want) {
					t.Errorf("the package has %.200s", jsonOfAny(h.Messages))
				}
				s.During, s.Acting = nil, nil
				say(t, ctx, s, "and now?")
			})
		})
	}
}
