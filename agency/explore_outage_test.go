package agency_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// A thousand tasks end while the bus is down for an hour, and their worker dies somewhere in between. Every completion is told afterwards,
// every task has run once or, if it was the one that was cut off, twice, and no document has grown. SOAK tries more places.
func TestExploreOutageOfAThousand(t *testing.T) {
	const owed = 1000
	points := 2
	if os.Getenv("SOAK") != "" {
		points = 60
	}
	dice, modes := rand.New(rand.NewPCG(7, 0)), []fake.Mode{fake.KillBefore, fake.KillAfter, fake.LoseAnswer}
	for n := range points {
		cut := fake.Disturbance{At: 1 + dice.IntN(10*owed), Mode: modes[n%len(modes)]}
		isolated(t, func(d *definition) { d.TaskCap = agency.NoTaskCap }, func(t *testing.T, w *world) {
			w.review = nothing
			w.Disturb(cut)
			w.down(time.Hour)
			w.outlast(t, owed)
			w.sound(t)
			if told := len(w.bus.Of(contract.AgentTaskCompleted)); told < owed || w.Disturbed() != 1 {
				t.Errorf("%s at call %d: %d of %d told, %d disturbed", cut.Mode, cut.At, told, owed, w.Disturbed())
			}
		})
	}
	if t.Failed() {
		return
	}
	t.Logf("explored an hour without a bus, %d completions owed: %d points, 0 violations", owed, points)
}

// down has the bus refuse everything for a while.
func (w *world) down(d time.Duration) {
	over := w.clock.Now().Add(d)
	w.bus.FailEntry = func(fake.Event) string {
		if w.clock.Now().Before(over) {
			return "InternalFailure"
		}
		return ""
	}
}

// outlast delivers n tasks, and plays rounds until nothing is left to do. The delivery that was disturbed comes again, as Lambda sees to,
// and those whose worker was dead; those that failed only for the bus do not, so that what they owe is told by the sweep alone.
func (w *world) outlast(t *testing.T, n int) {
	t.Helper()
	ctx := fake.WithWorker(t.Context(), "first")
	for i := range n {
		r, disturbed := request(fmt.Sprint("t", i), "ann", "review"), w.Disturbed()
		if _, err := w.agent.Deliver(ctx, r, ""); err == nil {
			t.Fatal("the bus is down, yet Deliver succeeded")
		}
		if fake.Killed(ctx) || w.Disturbed() > disturbed {
			w.pending = append(w.pending, r)
		}
	}
	fake.Kill(ctx)
	for i := range 200 {
		ctx, before := fake.WithWorker(t.Context(), fmt.Sprint("round-", i)), w.Effects()
		err := w.round(ctx)
		fake.Kill(ctx)
		if err == nil && w.Effects() == before {
			return
		}
	}
	t.Fatal("finds no end")
}
