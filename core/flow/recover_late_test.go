package flow_test

import (
	"context"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestLate: a trigger that got lost is late once; a session that nothing is owed to is not, nor is what nobody waits for.
func TestLate(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		sweep := func(want int) {
			t.Helper()
			s.Clock.Advance(2 * time.Minute)
			found, err := s.Sweep(ctx)
			must(t, err)
			if got := found.Late(); got != want {
				t.Errorf("late = %d of %v, want %d", got, found, want)
			}
		}
		sweep(0)
		_, err := s.Send(ctx, "s", "hello") // whose trigger nobody delivers
		must(t, err)
		sweep(1)
		must(t, s.Rest(ctx, "s"))
		sweep(0)
	})
}
