package agency_test

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/task"
)

// What a handler's models used stands on the task's row and in its completion, however the task ends.
func TestATaskSaysWhatItUsed(t *testing.T) {
	one := model.Usage{InputTokens: 10, OutputTokens: 2, Cost: 3_000, Priced: true}
	both := &task.Usage{InputTokens: 20, OutputTokens: 4, CostUSD: new(0.000006)}
	for _, tt := range []struct {
		name string
		end  func(attempt int) error
		want task.Status
	}{
		{"completed", func(int) error { return nil }, task.Completed},
		{"failed", func(int) error { return errors.New("no such test") }, task.Failed},
		{"run again", func(attempt int) error {
			if attempt == 1 {
				return fault.New(fault.Unavailable, "busy")
			}
			return nil
		}, task.Completed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			isolated(t, nil, func(t *testing.T, w *world) {
				attempt := 0
				w.review = func(c *ctxOf) error {
					attempt++
					var all sync.WaitGroup
					for range 2 { // two models side by side
						all.Go(func() { c.Used(one) })
					}
					all.Wait()
					return tt.end(attempt)
				}
				w.pending = append(w.pending, request("t1", "ann", "review"))
				w.settle(t)
				w.sound(t)
				row := w.status(t, "t1")
				if diff := cmp.Diff(both, row.Usage); diff != "" || row.Status != tt.want {
					t.Errorf("the row, %s (-want +got):\n%s", row.Status, diff)
				}
				var told contract.TaskCompleted
				if sent := w.bus.Of(contract.AgentTaskCompleted); len(sent) == 0 || json.Unmarshal(sent[0].Detail, &told) != nil {
					t.Fatalf("told %v", sent)
				}
				if diff := cmp.Diff(both, told.Usage); diff != "" {
					t.Errorf("the completion (-want +got):\n%s", diff)
				}
			})
		})
	}
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = nothing
		if got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil || got.Usage != nil {
			t.Errorf("a handler that asks no model: %+v, %v, want no usage", got.Usage, err)
		}
	})
}
