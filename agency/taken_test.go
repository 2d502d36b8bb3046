package agency_test

import (
	"context"
	"testing"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/task"
)

// A promise whose task another season, or another type, has made already is not said to stand: nobody would keep it. With ids of their own
// each makes its own.
func TestAPromiseThatNobodyWouldKeepIsNotMade(t *testing.T) {
	for _, tt := range []struct {
		ids  agency.TaskIDs
		want agency.OpenOutcome
	}{{agency.ReferenceIDs, agency.OpenTaken}, {agency.NamespacedIDs, agency.OpenCreated}} {
		season := "2025"
		isolated(t, func(d *definition) {
			d.TaskIDs = tt.ids
			d.Scope = func(context.Context, string) (string, error) { return season, nil }
		}, func(t *testing.T, w *world) {
			var made agency.OpenOutcome
			w.review = func(c *ctxOf) (err error) {
				made, err = c.Promise(w.promise(c))
				return err
			}
			for _, step := range []struct {
				id, season string
				want       agency.OpenOutcome
			}{{"t1", "2025", agency.OpenCreated}, {"t2", "2025", agency.OpenExisting}, {"t3", "2026", tt.want}} {
				season = step.season
				got, err := w.agent.Deliver(t.Context(), request(step.id, "ann", "review"), "")
				if err != nil || got.Status != task.Completed || made != step.want || made.Stands() != (step.want != agency.OpenTaken) {
					t.Errorf("%q, %s in %s: %s, %v, %v, want %s", tt.ids, step.id, step.season, made, got.Status, err, step.want)
				}
				w.settle(t)
			}
			w.sound(t)
		})
	}
}
