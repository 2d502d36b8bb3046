package agency_test

import (
	"context"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// onMemory gives a world whose agent type keeps everything in memory; what it sends is noted.
func onMemory(t *testing.T, change func(*definition)) (w *world, s *agency.MemoryStore, sent *[]agency.AgentTask) {
	t.Helper()
	s, sent = &agency.MemoryStore{}, &[]agency.AgentTask{}
	w = newWorld(func(d *definition) {
		s.Now, d.Store = d.Now, s
		d.Dispatch = agency.DispatchFunc(func(_ context.Context, x agency.AgentTask) error { *sent = append(*sent, x); return nil })
		if change != nil {
			change(d)
		}
	})
	w.review = nothing
	return w, s, sent
}

// Deferring works alike without a table, also where ids are namespaced.
func TestMemoryDefers(t *testing.T) {
	for _, ids := range []agency.TaskIDs{agency.ReferenceIDs, agency.NamespacedIDs} {
		w, _, sent := onMemory(t, func(d *definition) { d.TaskIDs = ids })
		var outcomes []agency.Outcome
		for _, id := range []string{"evt-1", "evt-2", "evt-3"} {
			d, err := w.agent.Route(t.Context(), contract.RawEvent{ID: id, Source: "app", DetailType: "Comment Added"})
			if err != nil || len(d) != 1 {
				t.Fatalf("Route = %v, %v", d, err)
			}
			outcomes = append(outcomes, d[0].Decision)
			w.clock.Advance(time.Minute)
		}
		if outcomes[0] != agency.Requested || outcomes[1] != agency.Deferred || outcomes[2] != agency.Deferred || len(*sent) != 2 || (*sent)[1].Delay.Round(time.Second) != 14*time.Minute {
			t.Errorf("%q: %v, sent %+v, want one now and one in 14m", ids, outcomes, *sent)
		}
	}
}

func TestMemoryHolds(t *testing.T) {
	w, s, _ := onMemory(t, func(d *definition) { d.OnPause = agency.HoldTasks })
	s.Pause("reviewer", true)
	r := request("t1", "ann", "review")
	for range 2 {
		if got, err := w.agent.Deliver(t.Context(), r, ""); err != nil || got.Status != task.Pending {
			t.Fatalf("Deliver while paused = %+v, %v, want PENDING", got, err)
		}
	}
	s.Pause("reviewer", false)
	w.clock.Advance(10 * time.Second)
	if got, err := w.agent.Deliver(t.Context(), r, ""); err != nil || got.Status != task.Completed {
		t.Errorf("Deliver = %+v, %v, want COMPLETED", got, err)
	}
}

// What was sent is not owed; what another delivery reserved is another's.
func TestMemoryReserves(t *testing.T) {
	var s agency.MemoryStore
	ctx := t.Context()
	r := agency.Reservation{Request: task.Request{TaskID: "t1", DeliveryID: "d"}}
	other := r
	other.Request.DeliveryID = "e"
	steps := []struct {
		name string
		r    agency.Reservation
		want agency.Reserved
		owes bool
	}{
		{"first", r, agency.Reserved{Owed: true}, true},
		{"again", r, agency.Reserved{Before: true, Owed: true}, true},
		{"another's", other, agency.Reserved{Other: true, Owed: true}, true},
	}
	for _, tt := range steps {
		got, err := s.Reserve(ctx, tt.r)
		owes, err2 := s.Owes(ctx, "t1", "d")
		if got != tt.want || owes != tt.owes || err != nil || err2 != nil {
			t.Errorf("%s: Reserve = %+v, Owes = %v, want %+v, %v", tt.name, got, owes, tt.want, tt.owes)
		}
	}
	if err := s.Sent(ctx, "t1"); err != nil {
		t.Fatal(err)
	}
	if owes, err := s.Owes(ctx, "t1", "d"); owes || err != nil {
		t.Errorf("Owes after it was sent = %v, %v", owes, err)
	}
}
