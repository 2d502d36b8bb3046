package turn_test

import (
	"context"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// TestWhereverItIsCutOffAtOnePlace: three sessions, one place, a crash anywhere.
func TestWhereverItIsCutOffAtOnePlace(t *testing.T) {
	ids := []string{sid(1), sid(2), sid(3)}
	flows := []fake.Flow{
		{Name: "three sessions and one place", New: func() *fake.Run {
			p, n := crowded(turn.Capacity{Stack: 1})
			p.Acts = []act{
				send(p, ids[0], "use the tools", contract.Preempt), send(p, ids[1], "hello", contract.Preempt), send(p, ids[2], "hello", contract.Preempt),
				func(ctx context.Context) error { return together(ctx, p.Stage, ids...) },
			}
			return p.Run(func() string { return p.Story(ids[0]) + p.Story(ids[1]) + p.Story(ids[2]) }, empty(p, n, 1, ids...))
		}},
		{Name: "one place, and a turn that is handed on in it", New: func() *fake.Run {
			p, n := crowded(turn.Capacity{Stack: 1})
			p.Model.Answer = func(req model.Request) fake.Turn { return helpful(req).Pausing(500 * time.Millisecond) }
			p.Timeout = 10 * time.Second
			p.Acts = []act{send(p, ids[0], "use the tools", contract.Preempt), send(p, ids[1], "hello", contract.Preempt)}
			return p.Run(func() string { return p.Story(ids[0]) + p.Story(ids[1]) }, empty(p, n, 1, ids[:2]...))
		}},
		{Name: "a place in two lines, a stop and a deletion", New: func() *fake.Run {
			p, n := crowded(turn.Capacity{Stack: 2, Principal: 1})
			p.Round = 9 * time.Minute
			p.Acts = []act{
				send(p, ids[0], "use the tools", contract.Preempt), send(p, ids[1], "hello", contract.Preempt), send(p, ids[2], "hello", contract.Preempt),
				func(ctx context.Context) error { return together(ctx, p.Stage, ids...) },
			}
			p.Mid = []act{stop(p, ids[1], false), remove(p, ids[2])}
			return p.Run(nil, empty(p, n, 1, ids...))
		}},
	}
	for _, f := range flows {
		t.Run(f.Name, func(t *testing.T) { fake.Explore(t, f) })
	}
}

// TestWhoeverMeetsAtOnePlace steps three workers of three sessions through their calls in many orders.
func TestWhoeverMeetsAtOnePlace(t *testing.T) {
	ids := []string{sid(1), sid(2), sid(3)}
	steps := fake.Steps{Name: "three workers, three sessions, one place", Kill: true, Cap: 150, Random: 150, New: func() *fake.Meeting {
		p, n := crowded(turn.Capacity{Stack: 1})
		for _, id := range ids {
			before(p, send(p, id, "hello", contract.Preempt))
		}
		end := func() string { return p.Story(ids[0]) + p.Story(ids[1]) + p.Story(ids[2]) }
		return meeting(p, end, empty(p, n, 1, ids...), worker(p, ids[0]), worker(p, ids[1]), worker(p, ids[2]))
	}}
	if soak {
		steps.Preemptions, steps.Cap, steps.Random = 3, 4_000, 2_000
	}
	fake.ExploreSteps(t, steps)
}
