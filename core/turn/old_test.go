package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestAConversationOlderThanItsRows goes on for two years. Its log begins later then, whether or not the table has removed what is over:
// whoever reads it from the beginning gets what is left, and the model still knows all of it.
func TestAConversationOlderThanItsRows(t *testing.T) {
	for _, removed := range []bool{false, true} {
		t.Run(fmt.Sprint("removed ", removed), func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				s.Watch.Off = true // it wants logs from their beginning on
				const months = 30
				for n := range months {
					_, err := s.Send(ctx, id, fmt.Sprint("month ", n))
					must(t, err, s.Drain(ctx))
					s.Clock.Advance(25 * 24 * time.Hour)
					if removed {
						s.Dynamo.DeleteExpired("expiresAt", s.Clock.Now())
					}
				}
				if n := len(lastRequest(s).Messages); n != 2*months-1 {
					t.Errorf("the model is told %d messages", n)
				}
				mine := flow.SessionOf{SessionID: id, Caller: stage.User}
				for _, from := range []int64{0, 3} {
					page, err := flow.ReadEvents{Edges: s.Edges}.Do(ctx, flow.ReadEventsIn{SessionOf: mine, From: from})
					must(t, err)
					first, _, _ := strings.Cut(string(page.Lines), "\n")
					if next := s.State(id).NextIndex; page.Next != next || !strings.Contains(first, "turn.started") || !strings.Contains(first, `"turn_16"`) {
						t.Errorf("read from %d: up to %d of %d, beginning with %s", from, page.Next, next, first)
					}
				}
			})
		})
	}
}
