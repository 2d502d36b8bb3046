package agency_test

import (
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// A task that is held lives as long as the pause, however long that is, and runs minutes after it.
func TestHeldTasksOutliveTheirRows(t *testing.T) {
	isolated(t, func(d *definition) { d.OnPause = agency.HoldTasks }, func(t *testing.T, w *world) {
		w.review = nothing
		if err := w.table.PauseAgency(t.Context(), "reviewer", true); err != nil {
			t.Fatal(err)
		}
		if err := w.send(t.Context(), "evt-1", "Pull Request Opened"); err != nil {
			t.Fatal(err)
		}
		w.events = nil // it does not come again
		for end := w.clock.Now().Add(40 * time.Hour); w.clock.Now().Before(end); {
			if err := w.round(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, one := range w.tasks() {
				if one.Expired(w.clock.Now()) {
					t.Fatalf("%s: %s has expired, held since %s", w.clock.Now(), one.TaskID, time.UnixMilli(one.CreatedAt).UTC())
				}
			}
		}
		if err := w.table.PauseAgency(t.Context(), "reviewer", false); err != nil {
			t.Fatal(err)
		}
		for over := w.clock.Now(); len(w.ended) < 2; {
			if err := w.round(t.Context()); err != nil {
				t.Fatal(err)
			}
			if waited := w.clock.Now().Sub(over); waited > 10*time.Minute {
				t.Fatalf("%d of 2 tasks ran in %s after the pause", len(w.ended), waited)
			}
		}
		w.settle(t)
		w.sound(t)
	})
}

// A task that waits for its time in a function heeds a pause that begins meanwhile.
func TestAPauseReachesWhoWaits(t *testing.T) {
	for _, tt := range []struct {
		onPause agency.OnPause
		want    task.Status
	}{{agency.DropTasks, task.Failed}, {agency.HoldTasks, task.Pending}} {
		t.Run("paused "+string(tt.onPause), func(t *testing.T) {
			isolated(t, func(d *definition) { d.OnPause = tt.onPause }, func(t *testing.T, w *world) {
				r := request("t1", "ann", "review")
				r.NotBefore = contract.At(w.clock.Now().Add(90 * time.Second))
				go func() {
					time.Sleep(time.Minute)
					if err := w.table.PauseAgency(t.Context(), "reviewer", true); err != nil {
						t.Error(err)
					}
				}()
				got, err := w.agent.Deliver(t.Context(), r, "")
				if err != nil || got.Status != tt.want || len(w.ended) != 0 {
					t.Errorf("Deliver = %+v, %v, %d ran, want %s and none", got, err, len(w.ended), tt.want)
				}
			})
		})
	}
}

// A task whose agent has gone since it was sent ends, and whoever waits for it is told.
func TestATaskOfNobodyEnds(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		r := request("t1", "ghost", "review")
		r.Source = w.agent.Source()
		if _, err := w.table.CreateTask(t.Context(), r); err != nil { // as routing it did
			t.Fatal(err)
		}
		w.settle(t)
		w.sound(t)
		for range 2 {
			if got, err := w.agent.Deliver(t.Context(), r, ""); err != nil || got.Status != task.Failed || got.Error != "Unknown reviewer agent" {
				t.Errorf("Deliver = %+v, %v", got, err)
			}
		}
		if got := w.status(t, "t1"); !got.Final() || w.ended["t1"] != 0 {
			t.Errorf("the task is %s, ran %d times, want an end without a run", got.Status, w.ended["t1"])
		}
	})
}
