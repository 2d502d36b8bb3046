package agency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Router turns events into tasks. For each rule of the event's type:
//
//	once-only key ──▶ shared cooldown ──▶ for each agent: known? ──▶ admitted? ──▶ cooldown ──▶ dispatch
//	     │ repeat          │ shared_cooldown           │ unknown_agent  │ declined     │ cooldown
//
// Gates that were passed stay taken, also when a dispatch fails: the error ends the routing, and a redelivery of the event passes
// its own gates again. Define does better, see there.
type Router struct {
	Rules          []Rule
	Gates          Gates
	Pacing         func(ctx context.Context, agentID string) (Pacing, error) // ErrUnknownAgent: skipped
	Principal      func(agentID string) task.Principal                       // nil: system, the agent's id
	Dispatch       Dispatcher
	ResponseDelays bool             // false: every human delay is none
	Sources        []string         // events of other sources are ignored; nil: every source
	Now            func() time.Time // nil: time.Now
	Log            *slog.Logger     // nil: discard

	paths  passage // nil: gate by gate, then the dispatcher
	goOn   bool    // an agent's error does not keep the others from the event
	taskID func(eventID, agentID string, rule Rule) string
}

// passage lets agents through and sends their tasks.
type passage interface {
	// enter takes the gates of a rule as a whole: once-only and shared. No decision lets it pass.
	enter(ctx context.Context, r routing) (Decision, error)
	// send takes the agent's gate and sends the task.
	send(ctx context.Context, r routing, t AgentTask, gate Entry) (Decision, error)
}

// routing is one rule at work on one event.
type routing struct {
	kind    string
	rule    Rule
	event   contract.RawEvent
	wake    Wake
	entries []Entry // of the rule as a whole
	now     time.Time
}

// Route does what the event calls for and says what became of it, for each agent of each rule. After an error the decisions are
// those made before it. Safe to repeat. Faults: those of the rules, look-ups, gates and the dispatcher.
func (r Router) Route(ctx context.Context, e contract.RawEvent) ([]Decision, error) {
	made := []Decision{}
	if r.Sources != nil && !slices.Contains(r.Sources, e.Source) {
		return made, nil
	}
	f := &failures{most: 1}
	if r.goOn {
		f.most = maxFailures
	}
	for _, rule := range r.Rules {
		if rule.DetailType != e.DetailType || f.over(ctx) {
			continue
		}
		made = append(made, r.apply(ctx, rule, e, f)...)
	}
	if f.all != nil {
		return made, fmt.Errorf("route %q %s: %w", e.DetailType, e.ID, errors.Join(f.all...))
	}
	return made, nil
}

func (r Router) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

func (r Router) apply(ctx context.Context, rule Rule, e contract.RawEvent, f *failures) (made []Decision) {
	wake, err := rule.ask(ctx, e)
	if err != nil {
		f.add(rule, err)
	}
	if err != nil || len(wake.Agents) == 0 {
		return nil
	}
	at := routing{kind: rule.Kind, rule: rule, event: e, wake: wake, now: r.now()}
	at.entries = wake.entries(rule.Kind, e.ID, at.now)
	shut, err := r.passage().enter(ctx, at)
	if err != nil {
		f.add(rule, err)
		return nil
	}
	for i, agentID := range unique(wake.Agents) {
		d := shut
		if d.AgentID, d.Kind = agentID, rule.Kind; d.Decision == "" {
			if d, err = r.wake(ctx, at, agentID, i); err != nil {
				if f.add(rule, err); f.over(ctx) {
					return made
				}
				continue
			}
		}
		r.report(ctx, e, d)
		made = append(made, d)
	}
	return made
}

// entries are the gates of the rule as a whole, owned by the event.
func (w Wake) entries(kind, eventID string, now time.Time) []Entry {
	var all []Entry
	if w.OncePer != nil {
		all = append(all, Entry{Slot: "rule#" + kind + "#" + *w.OncePer, Owner: eventID, Now: now})
	}
	if c := w.SharedCooldown; c != nil {
		all = append(all, Entry{Slot: "rule#" + kind + "#shared#" + c.Slot, Owner: eventID, Now: now, Window: &c.Window})
	}
	return all
}

func unique(agents []string) []string {
	var all []string
	for _, a := range agents {
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

func (r Router) passage() passage {
	if r.paths != nil {
		return r.paths
	}
	return gateByGate{r}
}

// wake decides for one agent.
func (r Router) wake(ctx context.Context, at routing, agentID string, index int) (d Decision, err error) {
	defer recovered(&err, "the look-up of "+agentID)
	d = Decision{AgentID: agentID, Kind: at.kind}
	pacing, err := r.Pacing(ctx, agentID)
	if errors.Is(err, ErrUnknownAgent) {
		d.Decision = UnknownAgent
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("pacing of %s: %w", agentID, err)
	}
	if at.wake.Admit != nil {
		ok, reason, err := at.wake.Admit(ctx, agentID)
		if err != nil {
			return d, fmt.Errorf("admit %s: %w", agentID, err)
		}
		if !ok {
			d.Decision, d.Reason = DeclinedByRule, reason
			return d, nil
		}
	}
	t, err := r.task(at, agentID, r.delay(at, pacing, agentID, index))
	if err != nil {
		return d, err
	}
	return r.passage().send(ctx, at, t, at.gate(agentID, t.TaskID, pacing))
}

// gate is the agent's own, owned by the task.
func (at routing) gate(agentID, taskID string, p Pacing) Entry {
	window := p.Cooldown
	if at.wake.Cooldown != nil {
		window = at.wake.Cooldown.Window
	}
	if at.wake.Urgent {
		window = 0
	}
	return Entry{Slot: CooldownSlot(agentID, at.kind, at.wake.Cooldown), Owner: taskID, Now: at.now, Window: &window}
}

func (r Router) delay(at routing, p Pacing, agentID string, index int) time.Duration {
	if at.wake.Urgent || at.wake.Delay == nil {
		return 0
	}
	d := Delayed{EventID: at.event.ID, AgentID: agentID, Index: index, Now: at.now}
	if r.ResponseDelays {
		d.Lever = p.lever()
	}
	return max(0, at.wake.Delay.Delay(d))
}

func (r Router) task(at routing, agentID string, delay time.Duration) (AgentTask, error) {
	each := Each{Request: at.wake.Request, Payload: at.wake.Payload}
	if at.wake.For != nil {
		at.wake.For(agentID, &each)
	}
	t := AgentTask{
		TaskID: TaskID(at.event.ID, agentID, at.kind), AgentID: agentID, Principal: task.System(agentID), Request: each.Request,
		Trigger: task.Trigger{Kind: at.kind, AgentID: agentID, EventID: at.event.ID, DetailType: at.event.DetailType, Urgent: at.wake.Urgent},
		Delay:   delay, RunAt: at.now.Add(delay),
	}
	if r.taskID != nil {
		t.TaskID = r.taskID(at.event.ID, agentID, at.rule)
	}
	if r.Principal != nil {
		t.Principal = r.Principal(agentID)
	}
	if each.Payload != nil {
		payload, err := payloadOf(each.Payload)
		if err != nil {
			return t, fmt.Errorf("task for %s: %w", agentID, err)
		}
		t.Trigger.Payload = payload
	}
	return t, nil
}

func (r Router) report(ctx context.Context, e contract.RawEvent, d Decision) {
	if r.Log == nil {
		return
	}
	attrs := []any{"event", e.ID, "detailType", e.DetailType, "agent", d.AgentID, "kind", d.Kind}
	if d.TaskID != "" {
		attrs = append(attrs, "task", d.TaskID, "delay", d.Delay)
	}
	if d.Reason != "" {
		attrs = append(attrs, "reason", d.Reason)
	}
	if !d.Until.IsZero() {
		attrs = append(attrs, "until", contract.At(d.Until))
	}
	r.Log.InfoContext(ctx, string(d.Decision), attrs...)
}
