package steadfast_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud/bus/pattern"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// hosted are the persistent agents as the functions host them.
func hosted(t *testing.T) agency.Hosted {
	t.Helper()
	all, err := agent.Persistent(agent.Deployment{Store: &agency.MemoryStore{}, Bus: bus.Bus{EventBridge: nobody{}}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// nobody is a bus that nothing is put on.
type nobody struct{ bus.API }

// TestZonesTravelWithTheAgents: where functions run there is no database of time zones.
func TestZonesTravelWithTheAgents(t *testing.T) {
	for _, p := range packages(t) {
		if p.short() == "agency" && !slices.Contains(p.Deps, "time/tzdata") {
			t.Error("agency does not link time/tzdata")
		}
	}
}

// TestTemplateWakesPersistentAgents: every event that a hosted type has a rule for reaches agency-route, its tasks reach agency-task
// and nobody else, also those that wait, and its check-ins are scheduled.
func TestTemplateWakesPersistentAgents(t *testing.T) {
	for _, problem := range unwired(hosted(t), template(t)) {
		t.Error(problem)
	}
}

// TestMissingWiresAreFound: each wire that is cut is named.
func TestMissingWiresAreFound(t *testing.T) {
	cut := func(function string) *sam.Stack {
		s := template(t)
		s.Rules = slices.DeleteFunc(s.Rules, func(r sam.Rule) bool { return named(s, r.Function) == function })
		return s
	}
	moved := template(t)
	for i, s := range moved.Schedules {
		if named(moved, s.Function) == "agency-check-in" {
			moved.Schedules[i].TimeZone = "Europe/Paris"
		}
	}
	open := template(t)
	for i, r := range open.Rules {
		if named(open, r.Function) == "agency-route" {
			open.Rules[i].Pattern = []byte(strings.Replace(string(r.Pattern), `"Pull Request Opened"`, `"Pull Request Closed"`, 1))
		}
	}
	for _, tt := range []struct {
		name  string
		stack *sam.Stack
		want  string
	}{
		{"events", open, `reviewer: no rule brings "Pull Request Opened" of code.reviews to agency-route`},
		{"check-ins", cut("agency-route"), `reviewer: no rule brings "Agent Check-In" of agency.reviewer to agency-route`},
		{"tasks", cut("agency-task"), `reviewer: no rule brings "Run Agent Task" of agency.reviewer to agency-task`},
		{"delays", cut("schedule-event"), `reviewer: no rule brings "Schedule Event" of agency.reviewer to schedule-event`},
		{"schedule", moved, `reviewer: no schedule calls agency-check-in at cron(0 9,14,20 * * ? *) in America/New_York`},
	} {
		if found := unwired(hosted(t), tt.stack); !slices.Contains(found, tt.want) {
			t.Errorf("%s: found %q, want %q", tt.name, found, tt.want)
		}
	}
}

// unwired lists what the template lacks for the types.
func unwired(types agency.Hosted, stack *sam.Stack) (missing []string) {
	for _, a := range types {
		w := a.Wiring()
		brings := func(to, detailType, source string) {
			if got := takers(stack, detailType, source); !slices.Contains(got, to) {
				missing = append(missing, fmt.Sprintf("%s: no rule brings %q of %s to %s", w.Name, detailType, source, to))
			}
		}
		sources := w.Sources
		if sources == nil {
			sources = []string{"anybody.at-all"}
		}
		for _, detailType := range w.DetailTypes {
			for _, source := range sources {
				brings("agency-route", detailType, source)
			}
		}
		brings("agency-task", contract.RunAgentTask, w.Source)
		brings("schedule-event", agency.ScheduleEvent, w.Source) // tasks that a task asks for later
		if got := takers(stack, contract.RunAgentTask, w.Source); len(got) > 1 {
			missing = append(missing, fmt.Sprintf("%s: its tasks go to %q", w.Name, got))
		}
		if w.CheckIns == nil {
			continue
		}
		brings("agency-route", agency.CheckInDetailType, w.Source)
		for _, cron := range w.CheckIns.Crons() {
			if !slices.ContainsFunc(stack.Schedules, func(s sam.Schedule) bool {
				var call agency.CheckInCall
				return s.Expression == cron && s.TimeZone == w.CheckIns.TimeZone && named(stack, s.Function) == "agency-check-in" &&
					json.Unmarshal(s.Input, &call) == nil && call.AgentType == w.Name
			}) {
				missing = append(missing, fmt.Sprintf("%s: no schedule calls agency-check-in at %s in %s", w.Name, cron, w.CheckIns.TimeZone))
			}
		}
	}
	return missing
}

// takers are the functions that an event goes to.
func takers(stack *sam.Stack, detailType, source string) (all []string) {
	event, _ := json.Marshal(map[string]string{"detail-type": detailType, "source": source}) // strings always encode
	for _, r := range stack.Rules {
		p, err := pattern.Compile(r.Pattern)
		if err == nil && p.MatchJSON(event) {
			all = append(all, named(stack, r.Function))
		}
	}
	return all
}

func named(stack *sam.Stack, logicalID string) string {
	for _, f := range stack.Functions {
		if f.LogicalID == logicalID {
			return f.Name
		}
	}
	return logicalID
}
