package agency

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Route turns an event into tasks. On a TableStore what it decides is never lost: gates, task and dispatch are one write, and what was
// written is sent by this call, a redelivery, or the sweep; an agent's error, say a damaged profile, does not keep the others from the
// event, and is returned in the end. On a store that nobody sweeps it does as Router does. While the type is paused nothing is dispatched,
// unless it holds tasks. It goes straight into a function. Safe to repeat. Faults: Invalid for an event without an id, those of rules and
// look-ups, Unavailable.
func (a *Agent) Route(ctx context.Context, e contract.RawEvent) ([]Decision, error) {
	made, err := a.decide(ctx, e)
	if len(made) == 1 && made[0].Decision == PausedType {
		return []Decision{}, err
	}
	return made, err
}

// decide is Route that also says when the type is paused.
func (a *Agent) decide(ctx context.Context, e contract.RawEvent) ([]Decision, error) {
	if e.ID == "" { // every event without one would be the same
		return nil, fault.New(fault.Invalid, "%q of %s has no id, by which its tasks are known", e.DetailType, e.Source)
	}
	paused, err := a.pause.on(ctx)
	if err != nil {
		return nil, fmt.Errorf("is %s paused: %w", a.name, err)
	}
	if paused && a.onPause == DropTasks {
		a.log.InfoContext(ctx, string(PausedType), "event", e.ID, "detailType", e.DetailType, "type", a.name)
		return []Decision{{Decision: PausedType}}, nil
	}
	r := Router{
		Rules: a.rules, Pacing: a.pacing, Principal: a.principal, ResponseDelays: a.delays, Now: a.now, Log: a.log,
		Sources: a.sources, taskID: a.ruleTaskID, Gates: a.store, Dispatch: a.dispatcher,
	}
	r.paths, r.goOn = paths{outbox{a}, gateByGate{r}}, a.store.Sweeps()
	if r.Sources != nil { // check-ins come from the type itself
		r.Sources = append(slices.Clone(r.Sources), a.source)
	}
	return r.Route(ctx, e)
}

// ruleTaskID is the id of the task that a rule asks for.
func (a *Agent) ruleTaskID(eventID, agentID string, rule Rule) string {
	if a.ids != NamespacedIDs {
		return TaskID(eventID, agentID, rule.Kind)
	}
	event := eventID + "|" + rule.DetailType
	if rule.nth > 0 {
		event += "|" + strconv.Itoa(rule.nth)
	}
	return TaskID(event, a.name+"/"+agentID, rule.Kind)
}

// numbered tells rules apart that have detail type and kind in common, by the order in which they are defined.
func numbered(rules []Rule) []Rule {
	all, seen := slices.Clone(rules), map[[2]string]int{}
	for i, r := range all {
		id := [2]string{r.DetailType, r.Kind}
		all[i].nth = seen[id]
		seen[id]++
	}
	return all
}

// ownTaskID is the id of a follow-up.
func (a *Agent) ownTaskID(eventID, agentID, kind, scope string) string {
	if a.ids == NamespacedIDs {
		return TaskID(eventID+"|"+scope, a.name+"/"+agentID, kind)
	}
	return TaskID(eventID, agentID, kind)
}

// checkInDetail is the detail of a check-in.
type checkInDetail struct {
	AgentType string           `json:"agentType"`
	Date      string           `json:"date"`
	Slot      string           `json:"slot"`
	At        contract.Instant `json:"at,omitempty"`
	NextAt    contract.Instant `json:"nextAt,omitempty"`
}

// checkInRule wakes every agent of the type, once per slot.
func (a *Agent) checkInRule() Rule {
	return On(CheckInDetailType, CheckInKind, func(ctx context.Context, e Event[checkInDetail]) (Wake, error) {
		if e.Source != a.source || e.Detail.AgentType != a.name {
			return Wake{}, nil
		}
		agents, err := a.checkIn.Agents(ctx)
		if err != nil {
			return Wake{}, fmt.Errorf("agents of %s: %w", a.name, err)
		}
		profile := RoutineDelay
		if a.checkIn.Profile != nil {
			profile = *a.checkIn.Profile
		}
		deadline, _ := readTime(e.Detail.NextAt)
		w := Wake{Agents: agents, Request: a.checkIn.Request, Payload: checkInPayload(e.Detail), Delay: HumanDelay(profile, deadline)}
		if w.Request == "" {
			w.Request = "Look over your goals and what you said you would do."
		}
		if e.Detail.Date != "" && e.Detail.Slot != "" {
			w.OncePer = new(a.name + ":" + e.Detail.Date + "-" + e.Detail.Slot)
		}
		return w, nil
	})
}

func checkInPayload(d checkInDetail) any {
	return struct {
		Date string `json:"date,omitempty"`
		Slot string `json:"slot,omitempty"`
	}{d.Date, d.Slot}
}

// CheckInEvent is the check-in of the slot that now belongs to, dated by the local day of the slot. Faults: Invalid for a type without
// check-ins.
func (a *Agent) CheckInEvent(now time.Time) (contract.RawEvent, error) {
	if a.checkIn == nil {
		return contract.RawEvent{}, fault.New(fault.Invalid, "agent type %s has no check-ins", a.name)
	}
	m, _, err := moment(now, a.checkIn.Schedule)
	if err != nil {
		return contract.RawEvent{}, err
	}
	detail, err := json.Marshal(checkInDetail{AgentType: a.name, Date: m.Date, Slot: m.Slot, At: m.At, NextAt: m.NextAt})
	return contract.RawEvent{Source: a.source, DetailType: CheckInDetailType, Time: now, Detail: detail}, err
}

// early is by how much the clock here may be behind that of the schedule which calls at a slot: the slot that begins within it counts as
// begun. Else its check-in would be the last slot's, which all agents have answered.
const early = time.Minute

// EmitCheckIn publishes the check-in of now, or of the slot that begins within a minute. Safe to repeat: agents answer once per slot.
// Faults: Invalid, Unavailable.
func (a *Agent) EmitCheckIn(ctx context.Context) error {
	e, err := a.CheckInEvent(a.now().Add(early))
	if err == nil && a.bus.EventBridge == nil {
		err = fault.New(fault.Invalid, "agent type %s has no Bus", a.name)
	}
	if err != nil {
		return err
	}
	return a.bus.Publish(ctx, bus.Event{DetailType: e.DetailType, Detail: e.Detail})
}

// HandleTask runs the task of a "Run Agent Task" event. It goes straight into a function: an error asks for another delivery. Faults:
// Invalid when the detail is not a task's, else those of Deliver.
func (a *Agent) HandleTask(ctx context.Context, e contract.RawEvent) (task.Result, error) {
	var r task.Request
	if err := json.Unmarshal(e.Detail, &r); err != nil {
		return task.Result{}, fault.Wrap(fault.Invalid, err, "detail of %s", e.ID)
	}
	return a.Deliver(ctx, r, e.ID)
}

// pauseLife is how long a worker trusts what it read of the pause.
const pauseLife = 5 * time.Second

// pauseSwitch tells whether a type is paused.
type pauseSwitch struct {
	ask   func(ctx context.Context) (bool, error)
	store Store
	name  string
	now   func() time.Time

	mu   sync.Mutex
	read time.Time
	is   bool
}

func (p *pauseSwitch) on(ctx context.Context) (bool, error) {
	if p.ask != nil {
		return p.ask(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if age := now.Sub(p.read); !p.read.IsZero() && age >= 0 && age < pauseLife {
		return p.is, nil
	}
	is, err := p.store.Paused(ctx, p.name)
	if err == nil {
		p.read, p.is = now, is
	}
	return is, err
}
