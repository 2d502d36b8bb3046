package agency_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

type routeStep struct {
	Now           time.Time
	Event         contract.RawEvent
	DispatchFails []int
}

func TestConformanceTriggers(t *testing.T) {
	conform(t, "triggers.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct {
			Pacing         map[string]pacingData
			Rules          map[string][]ruleData
			ResponseDelays bool
			Sources        []string
			Steps          []routeStep
		}](t, input)
		gates := &agency.MemoryGates{}
		r := agency.Router{
			Rules: rulesOf(t, in.Rules), Gates: gates, ResponseDelays: in.ResponseDelays, Sources: in.Sources,
			Principal: func(agentID string) task.Principal { return task.System("svc/" + agentID) },
			Pacing: func(_ context.Context, agentID string) (agency.Pacing, error) {
				p, known := in.Pacing[agentID]
				if !known {
					return agency.Pacing{}, agency.ErrUnknownAgent
				}
				return p.pacing(), nil
			},
		}
		steps := []object{}
		for _, s := range in.Steps {
			steps = append(steps, s.route(t, r))
		}
		return object{"steps": steps, "gates": passed(gates.All())}
	})
}

func (s routeStep) route(t *testing.T, r agency.Router) object {
	logged, dispatches, calls := []string{}, []object{}, 0
	r.Log, r.Now = slog.New(notes{said: &logged}), func() time.Time { return s.Now }
	r.Dispatch = agency.DispatchFunc(func(_ context.Context, x agency.AgentTask) error {
		if calls++; slices.Contains(s.DispatchFails, calls) {
			return &scripted{Name: "ServiceUnavailableException", Message: "bus down"}
		}
		dispatches = append(dispatches, sentTask(x))
		return nil
	})
	decisions, err := r.Route(t.Context(), s.Event)
	got := object{"dispatches": dispatches, "logged": logged}
	if err != nil {
		got["error"] = errorOf(err)
	} else {
		got["decisions"] = decisions
	}
	return got
}

type gateOp struct {
	Op, Slot, Owner string
	Now             time.Time
	WindowMs        *float64
}

func (op gateOp) do(t *testing.T, g agency.Gates) bool {
	t.Helper()
	e := agency.Entry{Slot: op.Slot, Owner: op.Owner, Now: op.Now}
	if op.WindowMs != nil {
		e.Window = new(ms(*op.WindowMs))
	}
	ok, err := false, error(nil)
	if op.Op == "release" {
		ok, err = g.Release(t.Context(), op.Slot, op.Owner)
	} else {
		ok, err = g.Admit(t.Context(), e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// Gates in memory and in a table answer alike.
func TestConformanceGates(t *testing.T) {
	conform(t, "gates.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct{ Ops []gateOp }](t, input)
		memory, w := &agency.MemoryGates{}, newWorld(nil)
		w.clock.Set(in.Ops[0].Now)
		table := agency.TableGates{Table: w.table, Prefix: "p"}
		results := []bool{}
		for i, op := range in.Ops {
			ok := op.do(t, memory)
			if other := op.do(t, table); other != ok {
				t.Errorf("op %d: %v in memory, %v in the table", i+1, ok, other)
			}
			results = append(results, ok)
		}
		for slot, p := range memory.All() {
			if got, ok, err := (agency.TableStore{Table: w.table}).Look(t.Context(), "p", slot); !ok || err != nil || got.Owner != p.Owner || !got.At.Equal(p.At) {
				t.Errorf("%s: %+v, %v, %v in the table, %+v in memory", slot, got, ok, err, p)
			}
		}
		return object{"results": results, "state": passed(memory.All())}
	})
}

func ExampleRouter() {
	type opened struct{ Reviewers []string }
	r := agency.Router{
		Rules: []agency.Rule{agency.On("Pull Request Opened", "review", func(_ context.Context, e agency.Event[opened]) (agency.Wake, error) {
			return agency.Wake{Agents: e.Detail.Reviewers, Request: "Review it."}, nil
		})},
		Gates:    &agency.MemoryGates{},
		Pacing:   func(context.Context, string) (agency.Pacing, error) { return agency.Pacing{Cooldown: time.Hour}, nil },
		Dispatch: agency.DispatchFunc(func(_ context.Context, t agency.AgentTask) error { fmt.Println("to", t.AgentID, t.Request); return nil }),
	}
	for _, id := range []string{"evt-1", "evt-2"} {
		decisions, err := r.Route(context.Background(), contract.RawEvent{ID: id, DetailType: "Pull Request Opened", Detail: []byte(`{"reviewers":["ann"]}`)})
		fmt.Println(decisions[0].Decision, err)
	}
	// Output:
	// to ann Review it.
	// requested <nil>
	// cooldown <nil>
}

// One decision is one agent of one event, with gates in memory.
func BenchmarkRouterDecision(b *testing.B) {
	type opened struct{ Reviewers []string }
	r := agency.Router{
		Rules: []agency.Rule{agency.On("Opened", "review", func(_ context.Context, e agency.Event[opened]) (agency.Wake, error) {
			return agency.Wake{Agents: e.Detail.Reviewers, Request: "Review it.", Delay: agency.HumanDelay(agency.ConsideredDelay, time.Time{})}, nil
		})},
		Gates: &agency.MemoryGates{}, ResponseDelays: true,
		Pacing:   func(context.Context, string) (agency.Pacing, error) { return agency.Pacing{}, nil },
		Dispatch: agency.DispatchFunc(func(context.Context, agency.AgentTask) error { return nil }),
	}
	e := contract.RawEvent{ID: "evt-1", DetailType: "Opened", Detail: []byte(`{"reviewers":["ann"]}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Route(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
