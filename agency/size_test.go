package agency_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// large is an intent or a need of a size that a few of fill a row.
func large(n int) string { return fmt.Sprint(n, strings.Repeat("x", 90<<10)) }

// What a row cannot hold is forgotten from the history, oldest first: an agenda goes on being observed, and promises go on being made.
func TestLargeDocumentsForgetTheirHistory(t *testing.T) {
	type big = agency.Context[string, string, string]
	observed := 0
	w := newWorld(nil)
	a, err := agency.Define(agency.Definition[string, string, string]{
		Name: "hoarder", Table: w.table, Bus: bus.Bus{EventBridge: w.bus}, Now: w.clock.Now, NoResponseDelays: true, Profile: w.definition(nil).Profile,
		Tasks: map[string]func(*big) (string, error){
			"promise": func(c *big) (string, error) {
				made, err := c.Promise(agency.Promise[string]{
					Kind: "keep", Counterpart: "zoe", Source: agency.Said{Ref: c.TaskID}, Intent: large(observed), ExpiresAt: c.Now.Add(time.Hour),
				})
				return string(made), err
			},
			"keep": agency.WithCommitment(func(c *big, com agency.Commitment[string]) (string, error) {
				applied, err := c.AdvanceCommitment(com.ID, agency.Closed{Status: agency.CommitmentFulfilled, Reason: "done", Facts: large(observed)})
				return fmt.Sprint(applied), err
			}),
		},
		Observe: func(c *big) (o agency.Observation[string], err error) {
			observed++
			o.Add(fmt.Sprint("goal-", observed), "goal", large(observed))
			return o, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	deliver := func(id, kind string, payload string) {
		t.Helper()
		r := task.Request{TaskID: id, Principal: task.System("hoarder/ann"), Trigger: &task.Trigger{Kind: kind, AgentID: "ann", EventID: "e-" + id, Payload: []byte(payload)}}
		if got, err := a.Deliver(t.Context(), r, ""); err != nil || got.Status != task.Completed || got.Output == "false" {
			t.Fatalf("%s: %.200s %s, %v", id, got.Error, got.Status, err)
		}
	}
	const tasks = 8
	for n := range tasks / 2 {
		made := fmt.Sprint("made-", n)
		deliver(made, "promise", "")
		deliver(agency.TaskID("promise:"+made, "ann", "keep"), "keep", fmt.Sprintf(`{"commitmentId":"keep:%s"}`, made))
		w.clock.Advance(time.Minute)
	}
	in, err := a.Inspect(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if g := in.Agenda.Goals; len(g) < 2 || g[0].ID != fmt.Sprint("goal-", tasks) || g[1].ID != fmt.Sprint("goal-", tasks-1) {
		t.Errorf("%d goals, want the newest and the one before it", len(g))
	}
	if c := in.Commitments; len(c) == 0 || c[0].ID != fmt.Sprint("keep:made-", tasks/2-1) || c[0].Status != agency.CommitmentFulfilled {
		t.Errorf("%d promises, want the newest first, kept", len(c))
	}
}

// The most tasks that a cap may count fit into their document, also with long names.
func TestTheLargestCapCanBeCounted(t *testing.T) {
	kind := strings.Repeat("k", 64)
	w := newWorld(func(d *definition) {
		d.TaskCap = agency.MaxTaskCap
		d.Tasks[kind] = func(*ctxOf) (string, error) { return "done", nil }
		d.Observe = nil
	})
	type entry struct {
		ID string `json:"id"`
		At int64  `json:"at"`
	}
	type counts struct {
		Tasks []entry `json:"tasks"`
	}
	_, err := agency.UpdateState(t.Context(), agency.TableStore{Table: w.table}, agency.StateKey{AgentID: "ann", Name: "reviewer.usage"}, func(counts) (all counts, err error) {
		for n := range agency.MaxTaskCap - 1 {
			all.Tasks = append(all.Tasks, entry{agency.TaskID(fmt.Sprint("evt-", n), "ann", kind), w.clock.Now().UnixMilli()})
		}
		return all, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		id   string
		want task.Status
	}{{"last", task.Completed}, {"over", task.Failed}} {
		if got, err := w.agent.Deliver(t.Context(), request(tt.id, "ann", kind), ""); err != nil || got.Status != tt.want {
			t.Errorf("%s: %s %.100s, %v, want %s", tt.id, got.Status, got.Error, err, tt.want)
		}
	}
}

// An answer larger than a row and an event is stored, told and given again whole.
func TestALargeAnswerIsToldByReference(t *testing.T) {
	answer := strings.Repeat("é", 600<<10)
	isolated(t, func(d *definition) {
		d.Tasks["review"] = func(*ctxOf) (string, error) { return answer, nil }
	}, func(t *testing.T, w *world) {
		for range 2 {
			if got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil || got.Status != task.Completed || got.Output != answer {
				t.Fatalf("Deliver = %s, %d bytes, %v", got.Status, len(got.Output), err)
			}
		}
		told := w.bus.Of(contract.AgentTaskCompleted)
		if len(told) != 1 {
			t.Fatalf("told %d times", len(told))
		}
		text, err := w.table.Detail(t.Context(), read[struct{ OutputRef string }](t, told[0].Detail).OutputRef)
		if whole := read[string](t, []byte(text)); err != nil || whole != answer {
			t.Errorf("the event's output is %d bytes, %v", len(whole), err)
		}
		if row := w.status(t, "t1"); row.CompletionOwed != 0 || row.Output != answer {
			t.Errorf("the row owes %d and has %d bytes", row.CompletionOwed, len(row.Output))
		}
	})
}

// A payload that no bus would take is refused while its maker can still do something about it.
func TestALargePayloadIsRefused(t *testing.T) {
	isolated(t, func(d *definition) {
		d.Rules = []agency.Rule{rule("Opened", agency.Wake{Agents: []string{"ann"}, Payload: strings.Repeat("x", agency.MaxPayloadBytes)})}
	}, func(t *testing.T, w *world) {
		made, err := w.agent.Route(t.Context(), contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Opened"})
		if !fault.Is(err, fault.Limit) || len(made) != 0 || !strings.Contains(err.Error(), "131074 bytes, the limit is 131072") {
			t.Errorf("Route = %v, %v", made, err)
		}
		w.review = func(c *ctxOf) error {
			_, err := c.FollowUp(agency.FollowUp{Kind: "review", Payload: make([]int, agency.MaxPayloadBytes)})
			return err
		}
		if got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil || !strings.Contains(got.Error, "the limit is 131072") {
			t.Errorf("Deliver = %+v, %v", got, err)
		}
	})
}
