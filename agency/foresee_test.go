package agency_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// What is foreseen is what routing then does, with the time at which a cooldown ends; and it leaves no trace.
func TestForesee(t *testing.T) {
	once := "week 1"
	shared := agency.Cooldown{Slot: "board", Window: time.Hour}
	isolated(t, func(d *definition) {
		d.Rules = append(d.Rules, rule("Once", agency.Wake{Agents: []string{"eve"}, OncePer: &once}),
			rule("Shared", agency.Wake{Agents: []string{"ann", "eve"}, SharedCooldown: &shared, Cooldown: &agency.Cooldown{Slot: "own"}}))
	}, func(t *testing.T, w *world) {
		w.review = nothing
		h, err := agency.Host(w.agent)
		if err != nil {
			t.Fatal(err)
		}
		began := w.clock.Now()
		at := func(d time.Duration) contract.Instant { return contract.At(began.Add(d)) }
		for n, tt := range []struct {
			detailType string
			want       string // what is decided for each agent, with the end of a cooldown
		}{
			{"Pull Request Opened", "ann requested, bob requested"},
			{"Pull Request Opened", "ann cooldown " + string(at(15*time.Minute)) + ", bob cooldown " + string(at(15*time.Minute))},
			{"Deadline Near", "ann requested"},
			{"Comment Added", "ann deferred"},
			{"Once", "eve requested"},
			{"Once", "eve repeat"},
			{"Shared", "ann requested, eve requested"},
			{"Shared", "ann shared_cooldown " + string(at(time.Hour)) + ", eve shared_cooldown " + string(at(time.Hour))},
			{"Lunch", " no_rule"},
		} {
			e := contract.RawEvent{ID: "evt-" + tt.detailType + string(rune('a'+n)), Source: "app", DetailType: tt.detailType}
			before := w.Effects()
			foreseen, err := h.Foresee(t.Context(), e)
			if got := decided(foreseen); err != nil || got != tt.want || w.Effects() != before {
				t.Errorf("%d: %s is foreseen as %q, %v, with %d effects, want %q and none", n, tt.detailType, got, err, w.Effects()-before, tt.want)
			}
			made, err := h.Route(t.Context(), e)
			if diff := cmp.Diff(made, foreseen); err != nil || diff != "" {
				t.Errorf("%d: %s: %v (-made +foreseen):\n%s", n, tt.detailType, err, diff)
			}
		}
		if err := w.table.PauseAgency(t.Context(), "reviewer", true); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(10 * time.Second)
		made, err := h.Foresee(t.Context(), contract.RawEvent{ID: "evt-9", Source: "app", DetailType: "Deadline Near"})
		if got := decided(made); err != nil || got != " paused" {
			t.Errorf("while it is paused: %q, %v", got, err)
		}
	})
}

// decided writes decisions in a line.
func decided(made []agency.Decision) (line string) {
	for i, d := range made {
		if i > 0 {
			line += ", "
		}
		line += d.AgentID + " " + string(d.Decision)
		if !d.Until.IsZero() {
			line += " " + string(contract.At(d.Until))
		}
	}
	return line
}
