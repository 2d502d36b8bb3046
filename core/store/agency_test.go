package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// A document is written by who read its newest revision, and comes back with every value it had.
func TestAgentState(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		const doc = `{"a":null,"b":[1,2.50,1e21],"c":{"d":"<é>","e":true}}`
		write := func(s store.AgentState) error {
			return b.Commit(t.Context(), b.PutAgentState("rev-1", "reviewer.agenda", "season", s))
		}
		first := store.AgentState{Value: json.RawMessage(doc)}
		wants(t, "the first", write(first), "")
		wants(t, "the first again", write(first), fault.Conflict)
		got, err := b.AgentState(t.Context(), "rev-1", "reviewer.agenda", "season")
		if err != nil || got.Revision != 1 {
			t.Fatalf("AgentState = revision %d, %v", got.Revision, err)
		}
		var a, z any
		if err := json.Unmarshal([]byte(doc), &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got.Value, &z); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, z); diff != "" {
			t.Errorf("value (-want +got):\n%s", diff)
		}
		wants(t, "the second", write(got), "")
		wants(t, "one that is stale", write(got), fault.Conflict)
		if other, err := b.AgentState(t.Context(), "rev-1", "reviewer.agenda", ""); err != nil || other.Revision != 0 || other.Value != nil {
			t.Errorf("another scope = %+v, %v, want none", other, err)
		}
		wants(t, "no JSON", write(store.AgentState{Value: json.RawMessage("{")}), fault.Invalid)
	})
}

func TestGate(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		now := b.clock.Now()
		at := func(d time.Duration) contract.Instant { return contract.At(now.Add(d)) }
		pass := func(owner string, d time.Duration, o store.Opening) error {
			return b.Commit(t.Context(), b.PassGate("p", "s", store.Gate{Owner: owner, LastTriggeredAt: at(d), ExpiresAt: now.Add(time.Hour).Unix()}, o))
		}
		wants(t, "a free gate", pass("a", 0, store.Opening{}), "")
		steps := []struct {
			name  string
			owner string
			o     store.Opening
			want  fault.Code
		}{
			{"a taken gate", "b", store.Opening{}, fault.Conflict},
			{"another's, for its owner", "b", store.Opening{Owner: true}, fault.Conflict},
			{"its owner's", "a", store.Opening{Owner: true}, ""},
			{"passed too lately", "b", store.Opening{Until: new(at(-time.Millisecond))}, fault.Conflict},
			{"passed long enough ago", "b", store.Opening{Until: new(at(0))}, ""},
			{"not as it was read", "c", store.Opening{As: &store.Gate{Owner: "a", LastTriggeredAt: at(0)}}, fault.Conflict},
			{"as it was read", "c", store.Opening{As: &store.Gate{Owner: "b", LastTriggeredAt: at(0)}}, ""},
			{"open to all", "d", store.Opening{Always: true}, ""},
		}
		for _, s := range steps {
			err := pass(s.owner, 0, s.o)
			wants(t, s.name, err, s.want)
			if g, refused := store.RefusedGate(err, "p", "s"); refused != (s.want != "") || refused && g.Owner == "" {
				t.Errorf("%s: RefusedGate = %+v, %v", s.name, g, refused)
			}
		}
		wants(t, "check", b.Commit(t.Context(), store.CheckGate("p", "s", "d")), "")
		wants(t, "check another's", b.Commit(t.Context(), store.CheckGate("p", "s", "a")), fault.Conflict)
		wants(t, "free another's", b.Commit(t.Context(), store.FreeGate("p", "s", "a")), fault.Conflict)
		if g, ok, err := b.Gate(t.Context(), "p", "s"); err != nil || !ok || g.Owner != "d" {
			t.Errorf("Gate = %+v, %v, %v", g, ok, err)
		}
		b.clock.Advance(2 * time.Hour) // its time is over, whether or not the row is gone
		if _, ok, err := b.Gate(t.Context(), "p", "s"); err != nil || ok {
			t.Errorf("Gate when it has expired = %v, %v, want free", ok, err)
		}
		wants(t, "an expired gate", pass("e", 0, store.Opening{}), "")
	})
}

// A task that is decided is owed to the bus from then on; a later one is due later and remembered for as long.
func TestOwedTask(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		now := b.clock.Now()
		at := now.Add(30 * time.Hour)
		r := task.Request{TaskID: "t-1", Principal: task.System("x"), Request: "do", DeliveryID: "evt-1", Source: "agency.x"}
		wants(t, "OwedTask", b.Commit(t.Context(), b.OwedTask(r, at, time.Hour)...), "")
		err := b.Commit(t.Context(), b.OwedTask(r, at, time.Hour)...)
		if !store.RefusedBy(err, key.Dispatch("t-1")) {
			t.Errorf("again: %v, want refused by the dispatch", err)
		}
		got, err := b.TaskOrNone(t.Context(), "t-1")
		if err != nil || got.Status != task.Pending || got.Source != "agency.x" || got.DueSK != key.DueSK(at.Add(time.Minute).UnixMilli()) ||
			got.ExpiresAt != at.Add(task.Life).Unix() {
			t.Errorf("task %+v, %v", got, err)
		}
		for range 2 {
			wants(t, "TaskSent", b.TaskSent(t.Context(), "t-1"), "")
		}
		d, err := b.Dispatch(t.Context(), "t-1")
		if err != nil || d.Status != "sent" || d.DueSK != "" || d.DeliveryID != "evt-1" || d.ExpiresAt < got.ExpiresAt {
			t.Errorf("dispatch %+v, %v", d, err)
		}
		wants(t, "TaskSent of no task", b.TaskSent(t.Context(), "t-2"), "")
	})
}

func TestPauseAgency(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for _, want := range []bool{false, true, true, false, false} {
			wants(t, "PauseAgency", b.PauseAgency(t.Context(), "reviewer", want), "")
			if got, err := b.AgencyPaused(t.Context(), "reviewer"); got != want || err != nil {
				t.Errorf("AgencyPaused = %v, %v, want %v", got, err, want)
			}
		}
	})
}
