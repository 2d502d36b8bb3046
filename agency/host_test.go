package agency_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// other makes a second type beside the world's.
func (w *world) other(t *testing.T, change func(*definition)) *agency.Agent {
	t.Helper()
	a, err := agency.Define(w.definition(func(d *definition) {
		d.Name, d.Rules, d.CheckIn = "tester", []agency.Rule{rule("Build Failed", agency.Wake{Agents: []string{"tim"}, Request: "Look."})}, nil
		if change != nil {
			change(d)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestHost(t *testing.T) {
	w := newWorld(func(d *definition) { d.Sources = []string{"app"} })
	tester := w.other(t, nil)
	h, err := agency.Host(w.agent, tester)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		source, detailType string
		want               map[string]int
	}{
		{"app", "Pull Request Opened", map[string]int{"decision requested": 2}},
		{"app", "Build Failed", map[string]int{"decision requested": 1}},
		{"app", "Nothing", map[string]int{"decision no_rule": 1}},
		{"stranger", "Pull Request Opened", map[string]int{"decision no_rule": 1}},
	} {
		made, err := h.Route(t.Context(), contract.RawEvent{ID: "e-" + tt.source + tt.detailType, Source: tt.source, DetailType: tt.detailType})
		if diff := cmp.Diff(tt.want, agency.Counts(made)); err != nil || diff != "" {
			t.Errorf("%s %s: %v (-want +got):\n%s", tt.source, tt.detailType, err, diff)
		}
	}
	if err := w.table.PauseAgency(t.Context(), "tester", true); err != nil {
		t.Fatal(err)
	}
	paused, err := agency.Host(w.agent, w.other(t, nil)) // workers that have read of no pause yet
	if err != nil {
		t.Fatal(err)
	}
	made, err := paused.Route(t.Context(), contract.RawEvent{ID: "e-9", Source: "app", DetailType: "Build Failed"})
	if diff := cmp.Diff(map[string]int{"decision paused": 1}, agency.Counts(made)); err != nil || diff != "" {
		t.Errorf("paused: %v (-want +got):\n%s", err, diff)
	}
}

// A task that was kept back is counted as such.
func TestCountsOfTasks(t *testing.T) {
	isolated(t, func(d *definition) {
		d.TaskCap = 2
		d.Budget = admit(func(s agency.Spender) error {
			if s.TaskID == "t2" {
				return fault.New(fault.Limit, "nothing left")
			}
			return nil
		})
	}, func(t *testing.T, w *world) {
		w.review = nothing
		for _, tt := range []struct {
			id   string
			want map[string]int
		}{
			{"t1", map[string]int{"task COMPLETED": 1}},
			{"t2", map[string]int{"task FAILED": 1, "decision budget": 1}},
			{"t3", map[string]int{"task FAILED": 1, "decision task_cap": 1}},
		} {
			got, err := w.agent.Deliver(t.Context(), request(tt.id, "ann", "review"), "")
			if diff := cmp.Diff(tt.want, agency.CountsOf(got)); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tt.id, err, diff)
			}
		}
	})
}

// Whether a type is paused is read every five seconds at most.
func TestPauseIsReadNowAndThen(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		e := contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Nothing"}
		reads := func() int { return w.Count("dynamo.GetItem") }
		for i := range 100 {
			if _, err := w.agent.Route(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(200 * time.Millisecond)
			if want := 1 + i/25; reads() != want {
				t.Fatalf("after %d events in %s the row was read %d times, want %d", i+1, time.Duration(i)*200*time.Millisecond, reads(), want)
			}
		}
	})
}

// Tasks go to the type whose source they have, and to nobody else.
func TestHostHandsTasksToTheirType(t *testing.T) {
	w := newWorld(nil)
	w.review = nothing
	h, err := agency.Host(w.other(t, nil), w.agent)
	if err != nil {
		t.Fatal(err)
	}
	detail, err := json.Marshal(request("t1", "ann", "review"))
	if err != nil {
		t.Fatal(err)
	}
	e := contract.RawEvent{ID: "d1", Source: "agency.reviewer", DetailType: contract.RunAgentTask, Detail: detail}
	if got, err := h.HandleTask(t.Context(), e); err != nil || got.Status != task.Completed {
		t.Errorf("the reviewer's task = %+v, %v", got, err)
	}
	e.Source = "agency.nobody"
	if _, err := h.HandleTask(t.Context(), e); !fault.Is(err, fault.NotFound) {
		t.Errorf("nobody's task: %v, want %s", err, fault.NotFound)
	}
	if err := h.EmitCheckIn(t.Context(), agency.CheckInCall{AgentType: "nobody"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a check-in of nobody: %v", err)
	}
	if err := h.EmitCheckIn(t.Context(), agency.CheckInCall{AgentType: "tester"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a check-in of a type without: %v", err)
	}
	if err := h.EmitCheckIn(t.Context(), agency.CheckInCall{AgentType: "reviewer"}); err != nil {
		t.Errorf("a check-in: %v", err)
	}
}

func TestHostRefusesTwins(t *testing.T) {
	w := newWorld(nil)
	for _, tt := range []struct {
		name   string
		change func(*definition)
		want   string
	}{
		{"one name", func(d *definition) { d.Name, d.Source = "reviewer", "agency.second" }, "names and sources of their own"},
		{"one source", func(d *definition) { d.Source = "agency.reviewer" }, "names and sources of their own"},
		{"one rule", func(d *definition) { d.Rules = []agency.Rule{rule("Weekly", agency.Wake{})} }, "their task ids would collide"},
	} {
		if _, err := agency.Host(w.agent, w.other(t, tt.change)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestWiring(t *testing.T) {
	w := newWorld(func(d *definition) { d.Sources = []string{"app"} })
	checkIns := agency.DefaultCheckIns()
	want := agency.Wiring{
		Name: "reviewer", Source: "agency.reviewer", Sources: []string{"app"},
		DetailTypes: []string{"Comment Added", "Deadline Near", "Pull Request Opened", "Weekly"}, CheckIns: &checkIns,
	}
	if diff := cmp.Diff(want, w.agent.Wiring()); diff != "" {
		t.Errorf("Wiring (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		slots []agency.CheckInSlot
		want  []string
	}{
		{nil, []string{"cron(0 9,14,20 * * ? *)"}},
		{[]agency.CheckInSlot{{Hour: 18, Minute: 30}, {Hour: 8}, {Hour: 6, Minute: 30}}, []string{"cron(0 8 * * ? *)", "cron(30 6,18 * * ? *)"}},
	} {
		s := agency.CheckInSchedule{Slots: tt.slots}
		if tt.slots != nil {
			s.TimeZone = "Asia/Tokyo"
		}
		if diff := cmp.Diff(tt.want, s.Crons()); diff != "" {
			t.Errorf("Crons of %v (-want +got):\n%s", tt.slots, diff)
		}
	}
}

// What is kept of an agent can be read, and reading changes nothing.
func TestInspect(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		if err := w.send(t.Context(), "evt-1", "Pull Request Opened"); err != nil {
			t.Fatal(err)
		}
		w.settle(t)
		effects := w.Effects()
		in, err := w.agent.Inspect(t.Context(), "ann")
		if err != nil || w.Effects() != effects {
			t.Fatalf("Inspect = %v, and %d effects", err, w.Effects()-effects)
		}
		if len(in.Agenda.Goals) != 1 || in.Agenda.Goals[0].ID != "pr:7" || len(in.Commitments) != 1 || in.Commitments[0].Status != agency.CommitmentFulfilled {
			t.Errorf("agenda %+v, commitments %+v", in.Agenda, in.Commitments)
		}
		if in.Counted != 2 || in.Cap != agency.DefaultTaskCap || len(in.Tasks) != 2 || in.Paused {
			t.Errorf("counted %d of %d, tasks %v, paused %t", in.Counted, in.Cap, in.Tasks, in.Paused)
		}
		if g := in.Gates["review"]; g.Owner != agency.TaskID("evt-1", "ann", "review") || !g.Until.Equal(g.At.Add(15*time.Minute)) {
			t.Errorf("gates %+v", in.Gates)
		}
		if _, err := w.agent.Inspect(t.Context(), "ghost"); !errors.Is(err, agency.ErrUnknownAgent) || err.Error() != `"ghost" of type reviewer: unknown agent` {
			t.Errorf("Inspect of an unknown agent = %v", err)
		}
		if in, err = w.agent.Inspect(t.Context(), "new"); err != nil || in.Commitments == nil || in.Tasks == nil || in.Gates == nil {
			t.Errorf("Inspect of an agent that has done nothing = %+v, %v, want empty lists", in, err)
		}
	})
}

// Tasks that are due soon are sent at once and wait; later ones are handed to whoever schedules.
func TestDispatchSoonOrLater(t *testing.T) {
	w := newWorld(nil)
	d := agency.BusDispatcher{Bus: bus.Bus{EventBridge: w.bus, Source: "agency.reviewer"}, Soon: 60}
	for _, tt := range []struct {
		delay int
		later bool
		want  string
	}{{0, false, contract.RunAgentTask}, {60, false, contract.RunAgentTask}, {61, false, agency.ScheduleEvent}, {61, true, "later"}} {
		got := ""
		d.Later = nil
		if tt.later {
			d.Later = func(context.Context, task.Request) error { got = "later"; return nil }
		}
		before := len(w.bus.Events())
		if err := d.Dispatch(t.Context(), agency.AgentTask{TaskID: "t1", Delay: time.Duration(tt.delay), RunAt: w.clock.Now()}); err != nil {
			t.Fatal(err)
		}
		if sent := w.bus.Events()[before:]; len(sent) == 1 {
			got = sent[0].DetailType
		}
		if got != tt.want {
			t.Errorf("a delay of %d: %q, want %q", tt.delay, got, tt.want)
		}
	}
}
