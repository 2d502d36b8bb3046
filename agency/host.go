package agency

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Hosted are the agent types that one set of functions runs. Host makes them.
type Hosted []*Agent

// Host puts agent types together. Faults: Invalid, naming both, for two types that would share a name, a source or task ids.
func Host(agents ...*Agent) (Hosted, error) {
	all := []error{HostTogether(agents...)}
	for i, a := range agents {
		for _, b := range agents[:i] {
			if a.name == b.name || a.source == b.source {
				all = append(all, fault.New(fault.Invalid, "agent types %s (%s) and %s (%s) need names and sources of their own", b.name, b.source, a.name, a.source))
			}
		}
	}
	return agents, errors.Join(all...)
}

// Type gives the type with a name. Faults: NotFound, naming those that there are.
func (h Hosted) Type(name string) (*Agent, error) {
	var names []string
	for _, a := range h {
		if a.name == name {
			return a, nil
		}
		names = append(names, a.name)
	}
	return nil, fault.New(fault.NotFound, "no agent type %q is hosted: there are %q", name, names)
}

// Route has every type route an event, and gives all decisions. One type's error does not keep the others from it. An event that no
// type has a rule for is one decision, NoRule. Safe to repeat. Faults: those of Agent.Route.
func (h Hosted) Route(ctx context.Context, e contract.RawEvent) ([]Decision, error) {
	made := []Decision{}
	known := false
	var failed error
	for _, a := range h {
		if !a.listens(e) {
			continue
		}
		known = true
		decisions, err := a.decide(ctx, e)
		made = append(made, decisions...)
		failed = errors.Join(failed, err)
	}
	if !known {
		made = append(made, Decision{Decision: NoRule})
		for _, a := range h[:min(1, len(h))] {
			a.log.InfoContext(ctx, string(NoRule), "event", e.ID, "detailType", e.DetailType, "source", e.Source)
		}
	}
	return made, failed
}

// listens reports whether the type has a rule for an event.
func (a *Agent) listens(e contract.RawEvent) bool {
	if a.sources != nil && e.Source != a.source && !slices.Contains(a.sources, e.Source) {
		return false
	}
	return slices.ContainsFunc(a.rules, func(r Rule) bool { return r.DetailType == e.DetailType })
}

// HandleTask runs the task of a "Run Agent Task" event by the type whose source it has. Faults: NotFound for another's, those of
// Agent.HandleTask.
func (h Hosted) HandleTask(ctx context.Context, e contract.RawEvent) (task.Result, error) {
	for _, a := range h {
		if a.source == e.Source {
			return a.HandleTask(ctx, e)
		}
	}
	return task.Result{}, fault.New(fault.NotFound, "no agent type has the source %s of %s", e.Source, e.ID)
}

// CheckInCall is what a schedule of check-ins hands to its function.
type CheckInCall struct {
	AgentType string `json:"agentType"`
}

// EmitCheckIn publishes the check-in of a type. Safe to repeat. Faults: NotFound, those of Agent.EmitCheckIn.
func (h Hosted) EmitCheckIn(ctx context.Context, c CheckInCall) error {
	a, err := h.Type(c.AgentType)
	if err != nil {
		return err
	}
	if err := a.EmitCheckIn(ctx); err != nil {
		return fmt.Errorf("check-in of %s: %w", a.name, err)
	}
	return nil
}

// Counts counts decisions by what was decided, for metrics.
func Counts(made []Decision) map[string]int {
	all := map[string]int{}
	for _, d := range made {
		all["decision "+string(d.Decision)]++
	}
	return all
}

// CountsOf counts a task by how it ended, and as kept back by its cap or budget if it was, for metrics.
func CountsOf(r task.Result) map[string]int {
	all := map[string]int{"task " + string(r.Status): 1}
	switch {
	case r.Status == task.Failed && strings.HasPrefix(r.Error, overCap):
		all["decision task_cap"] = 1
	case r.Status == task.Failed && strings.HasPrefix(r.Error, overBudget):
		all["decision budget"] = 1
	}
	return all
}
