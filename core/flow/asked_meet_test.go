package flow_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestTwoAskOfOneName steps two workers that were asked different things of one name, one after the other: the later counts, in whatever
// order they get to do it. What fails is delivered again.
func TestTwoAskOfOneName(t *testing.T) {
	type asking func(ctx context.Context, s *stage.Stage, id string, at time.Time) error
	in := func(delay contract.LooseText, n int) asking {
		return func(ctx context.Context, s *stage.Stage, id string, at time.Time) error {
			_, err := askAt(ctx, s, id, at, contract.ScheduleEvent{Name: "a", Delay: delay, Event: thing(n)})
			return err
		}
	}
	cancel := func(ctx context.Context, s *stage.Stage, id string, at time.Time) error {
		_, err := flow.ScheduleEvent{Edges: s.Edges, Later: s.Later}.Cancel(ctx, flow.Asked[contract.CancelScheduledEvent]{
			Detail: contract.CancelScheduledEvent{Name: "a"}, EventID: id, Time: at,
		})
		return err
	}
	for _, c := range []struct {
		name         string
		first, later asking
		want         string
	}{
		{"scheduled and cancelled", in("10m", 1), cancel, `[] []`},
		{"moved", in("10m", 1), in("20m", 2), `[{"n":2}] []`},
		{"cancelled and scheduled", cancel, in("10m", 2), `[{"n":2}] []`},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake.ExploreSteps(t, fake.Steps{Name: c.name, Kill: true, Cap: 200, Random: 60, Seed: 3, New: func() *fake.Meeting {
				s := stage.New(&fake.Model{})
				asked := s.Clock.Now()
				var done [2]atomic.Bool
				deliver := func(i int) func(context.Context) error {
					return func(ctx context.Context) error {
						do, at := c.first, asked
						if i == 1 {
							do, at = c.later, asked.Add(2*time.Second)
						}
						err := do(ctx, s, fmt.Sprint("event-", i), at)
						done[i].Store(err == nil)
						return err
					}
				}
				return &fake.Meeting{World: s.World, Workers: []func(context.Context) error{deliver(0), deliver(1)}, Recover: func(ctx context.Context) error {
					var errs []error
					for i := range done {
						if !done[i].Load() {
							s.Clock.Advance(time.Minute) // as Lambda does before it delivers again
							errs = append(errs, deliver(i)(ctx))
						}
					}
					return errors.Join(append(errs, s.Recover(ctx))...)
				}, Check: func() error {
					if got := things(s); got != c.want {
						return fmt.Errorf("came and left: %s, want %s", got, c.want)
					}
					return nil
				}}
			}})
		})
	}
}
