package agency_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// The faults of the TypeScript package that must not come back, by their number.

// isolated gives a test a world in a bubble, where waiting costs no time.
func isolated(t *testing.T, change func(*definition), test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(change)) })
}

// settle plays rounds until nothing is left to do.
func (w *world) settle(t *testing.T) {
	t.Helper()
	for range 200 {
		before := w.Effects()
		if err := w.round(t.Context()); err == nil && w.Effects() == before {
			return
		}
	}
	t.Fatal("finds no end")
}

// sound fails the test unless everything is at rest.
func (w *world) sound(t *testing.T) {
	t.Helper()
	if err := w.check(); err != nil {
		t.Error(err)
	}
}

// request is a task for an agent.
func request(id, agentID, kind string) task.Request {
	return task.Request{
		TaskID: id, Principal: task.System("reviewer/" + agentID), Request: "Do it.",
		Trigger: &task.Trigger{Kind: kind, AgentID: agentID, EventID: "evt-" + id, DetailType: "Test"},
	}
}

func (w *world) status(t *testing.T, id string) task.Task {
	t.Helper()
	got, err := w.table.TaskOrNone(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func nothing(*ctxOf) error { return nil }

// 1: what follows the claim is guarded: deliveries at once, a scope that throws, a hand-back that fails, a claim whose answer is lost.
func TestFault01NothingStaysRunning(t *testing.T) {
	t.Run("fifty deliveries for one agent at once", func(t *testing.T) {
		isolated(t, nil, func(t *testing.T, w *world) {
			w.review = nothing
			var all sync.WaitGroup
			for n := range 50 {
				all.Go(func() {
					if _, err := w.agent.Deliver(t.Context(), request(fmt.Sprint("t", n), "ann", "review"), ""); err != nil && !agency.IsRetryable(err) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			w.settle(t)
			w.sound(t)
			for n := range 50 {
				if got := w.status(t, fmt.Sprint("t", n)); got.Status != task.Completed {
					t.Errorf("task %d is %s: %s", n, got.Status, got.Error)
				}
				if ran := w.ended[fmt.Sprint("t", n)]; ran != 1 {
					t.Errorf("task %d ran %d times", n, ran)
				}
			}
		})
	})
	throws := true
	scope := func(d *definition) {
		throws = true
		d.Scope = func(context.Context, string) (string, error) {
			if throws {
				throws = false
				return "", fault.New(fault.Unavailable, "scope")
			}
			return "", nil
		}
	}
	tests := []struct {
		name   string
		change func(*definition)
		plan   []fake.Disturbance
	}{
		{"the scope throws", scope, nil},
		{"so does the hand-back", scope, []fake.Disturbance{{Name: "dynamo.UpdateItem", Mode: fake.Fail}}},
		{"the answer to the claim is lost", nil, []fake.Disturbance{{Name: "dynamo.PutItem", Mode: fake.LoseAnswer}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			isolated(t, tt.change, func(t *testing.T, w *world) {
				w.review = nothing
				for _, d := range tt.plan {
					w.Disturb(d)
				}
				if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err == nil {
					t.Fatal("Deliver = nil, want an error")
				}
				w.settle(t)
				w.sound(t)
				if got := w.status(t, "t1"); got.Status != task.Completed || w.ended["t1"] != 1 {
					t.Errorf("%s after %d runs, want COMPLETED after 1", got.Status, w.ended["t1"])
				}
			})
		})
	}
}

// 2: an outage of the bus loses no completion and fills no document.
func TestFault02AnOutageOwesOnTheTasks(t *testing.T) {
	isolated(t, func(d *definition) { d.TaskCap = agency.NoTaskCap }, func(t *testing.T, w *world) {
		w.review = nothing
		over := w.clock.Now().Add(time.Hour)
		w.bus.FailEntry = func(fake.Event) string {
			if w.clock.Now().Before(over) {
				return "InternalFailure"
			}
			return ""
		}
		const n = 1000 // the package remembers 100
		for i := range n {
			if _, err := w.agent.Deliver(t.Context(), request(fmt.Sprint("t", i), "ann", "review"), ""); err == nil {
				t.Fatal("the bus is down, yet Deliver succeeded")
			}
		}
		for _, row := range w.dynamo.Items("AGENT#") {
			if size := len(fmt.Sprint(row)); size > 20_000 {
				t.Errorf("a document of about %d bytes", size)
			}
		}
		w.settle(t)
		w.sound(t)
		if told := len(w.bus.Of(contract.AgentTaskCompleted)); told < n || w.clock.Now().Before(over) {
			t.Errorf("%d of %d completions told by %s", told, n, w.clock.Now())
		}
	})
}

// 3: the delivery that failed does not run again; its owed failure is told; a capped task is final.
func TestFault03AFailureIsFinalForItsDelivery(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		runs := 0
		w.review = func(*ctxOf) error { runs++; return errors.New("bad input") }
		w.Disturb(fake.Disturbance{Name: "bus.PutEvents", Mode: fake.Fail})
		r := request("t1", "ann", "review")
		if _, err := w.agent.Deliver(t.Context(), r, ""); err == nil {
			t.Fatal("the failure could not be told, yet Deliver succeeded")
		}
		for range 3 {
			got, err := w.agent.Deliver(t.Context(), r, "")
			if err != nil || got.Status != task.Failed || got.Error != "bad input" {
				t.Fatalf("Deliver again = %+v, %v", got, err)
			}
		}
		if told := len(w.bus.Of(contract.AgentTaskCompleted)); runs != 1 || told != 1 {
			t.Errorf("%d runs, told %d times, want once each", runs, told)
		}
		r.DeliveryID = "on purpose"
		if _, err := w.agent.Deliver(t.Context(), r, ""); err != nil || runs != 2 {
			t.Errorf("another delivery: %d runs, %v, want a second run", runs, err)
		}
	})
	t.Run("capped", func(t *testing.T) {
		isolated(t, func(d *definition) { d.TaskCap = 1 }, func(t *testing.T, w *world) {
			w.review = nothing
			for _, id := range []string{"t1", "t2"} {
				if _, err := w.agent.Deliver(t.Context(), request(id, "ann", "review"), ""); err != nil {
					t.Fatal(err)
				}
			}
			w.clock.Advance(25 * time.Hour) // the window is over, the row still there
			got, err := w.agent.Deliver(t.Context(), request("t2", "ann", "review"), "")
			if err != nil || !strings.HasPrefix(got.Error, "Task cap reached") || w.ended["t2"] != 0 || len(w.bus.Of(contract.AgentTaskCompleted)) != 2 {
				t.Errorf("Deliver = %+v, %v after %d runs, want the cap's failure, told once", got, err, w.ended["t2"])
			}
		})
	})
}

// 4: a promise and its task are one write; when the bus fails the sweep sends.
func TestFault04APromiseIsNeverWithoutItsTask(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.Disturb(fake.Disturbance{Name: "bus.PutEvents", Mode: fake.Fail})
		if got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil || got.Status != task.Completed {
			t.Fatalf("Deliver = %+v, %v", got, err)
		}
		w.settle(t)
		w.sound(t)
		if b := w.book("ann"); len(b) != 1 || b[0].Status != agency.CommitmentFulfilled {
			t.Errorf("book %+v, want the promise kept", b)
		}
	})
}

// 5: types and rules whose ids would collide are refused, or namespaced.
func TestFault05TaskIDsDoNotCollide(t *testing.T) {
	named := func(name string, ids agency.TaskIDs) *agency.Agent {
		w := newWorld(func(d *definition) { d.Name, d.TaskIDs = name, ids })
		return w.agent
	}
	err := agency.HostTogether(named("reviewer", agency.ReferenceIDs), named("tester", agency.ReferenceIDs))
	if err == nil || !strings.Contains(fmt.Sprint(err), "reviewer") || !strings.Contains(fmt.Sprint(err), "tester") {
		t.Errorf("HostTogether = %v, want both named", err)
	}
	if err := agency.HostTogether(named("reviewer", agency.NamespacedIDs), named("tester", agency.NamespacedIDs), named("third", "")); err != nil {
		t.Errorf("HostTogether of namespaced types = %v", err)
	}
	isolated(t, nil, func(t *testing.T, w *world) {
		d := w.definition(nil)
		d.Rules = append(d.Rules, d.Rules[0])
		if _, err := agency.Define(d); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "share task ids") {
			t.Errorf("Define with one rule twice = %v", err)
		}
	})
	isolated(t, func(d *definition) {
		d.TaskIDs = agency.NamespacedIDs
		twice := agency.Wake{Agents: []string{"ann"}, Urgent: true}
		d.Rules = []agency.Rule{rule("Opened", twice), rule("Opened", twice), rule("Closed", twice), rule("Opened", twice)}
	}, func(t *testing.T, w *world) {
		w.review = nothing
		if err := w.send(t.Context(), "evt-1", "Opened"); err != nil {
			t.Fatal(err)
		}
		w.settle(t)
		w.sound(t)
		if len(w.ended) != 3 {
			t.Errorf("ran %v, want a task for each of three rules", w.ended)
		}
	})
	ids := map[string]bool{}
	for _, name := range []string{"reviewer", "tester"} {
		isolated(t, func(d *definition) { d.Name, d.TaskIDs = name, agency.NamespacedIDs }, func(t *testing.T, w *world) {
			decisions, err := w.agent.Route(t.Context(), contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Deadline Near"})
			if err != nil || len(decisions) != 1 || ids[decisions[0].TaskID] {
				t.Errorf("Route = %v, %v, want an id of its own", decisions, err)
			}
			ids[decisions[0].TaskID] = true
		})
	}
}
