package agency

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// ErrUnknownAgent is what a look-up of an agent returns for one that is not of its type. It is skipped.
var ErrUnknownAgent = errors.New("unknown agent")

// Event is an event with its detail read.
type Event[D any] = contract.BusEvent[D]

// Rule says which agents an event wakes and for what.
type Rule struct {
	DetailType string
	Kind       string // of the task it calls for
	Wake       func(ctx context.Context, e contract.RawEvent) (Wake, error)

	nth int // among those of its detail type and kind
}

// ask has the rule decide.
func (r Rule) ask(ctx context.Context, e contract.RawEvent) (w Wake, err error) {
	defer recovered(&err, "the rule")
	return r.Wake(ctx, e)
}

// On makes a rule for events of a detail type, whose detail is read as a D; null is the zero D. Faults of the rule: Invalid for a
// detail that cannot be read as a D.
func On[D any](detailType, kind string, wake func(ctx context.Context, e Event[D]) (Wake, error)) Rule {
	return Rule{DetailType: detailType, Kind: kind, Wake: func(ctx context.Context, raw contract.RawEvent) (Wake, error) {
		e := Event[D]{ID: raw.ID, Source: raw.Source, DetailType: raw.DetailType, Time: raw.Time}
		if len(raw.Detail) > 0 {
			if err := json.Unmarshal(raw.Detail, &e.Detail); err != nil {
				return Wake{}, fault.Wrap(fault.Invalid, err, "detail of %q %s", raw.DetailType, raw.ID)
			}
		}
		return wake(ctx, e)
	}}
}

// MaxPayloadBytes is the most that a payload may take as JSON: it travels with its task, on the bus and in a row.
const MaxPayloadBytes = 128 * 1024

// payloadOf gives a payload as it is sent. Faults: Invalid, Limit.
func payloadOf(v any) (json.RawMessage, error) {
	data, err := encode(v)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "payload")
	}
	if len(data) > MaxPayloadBytes {
		return nil, fault.New(fault.Limit, "payload: %d bytes, the limit is %d: say where it lies instead", len(data), MaxPayloadBytes)
	}
	return data, nil
}

// Wake is what an event calls for: a task of the rule's kind for each agent. Agents named twice count once.
type Wake struct {
	Agents         []string
	Request        string
	Payload        any                                                                           // up to MaxPayloadBytes; nil: none
	For            func(agentID string, t *Each)                                                 // what is different for an agent; nil: nothing
	Urgent         bool                                                                          // no cooldown, no delay
	OncePer        *string                                                                       // however often it is sent, for this key the rule wakes once, as long as gates are kept (DefaultRetention)
	Cooldown       *Cooldown                                                                     // instead of the agent's own
	SharedCooldown *Cooldown                                                                     // one for all agents; its slot is the key, the rule's kind precedes it
	WhenCooling    WhenCooling                                                                   // of an agent in its cooldown
	Admit          func(ctx context.Context, agentID string) (ok bool, reason string, err error) // nil: everyone
	Delay          Delayer                                                                       // nil: at once
}

// Each is the task of one agent.
type Each struct {
	Request string
	Payload any
}

// Cooldown is a gate that stays shut for a while after it was passed. Window 0 is always open.
type Cooldown struct {
	Slot   string
	Window time.Duration
}

// WhenCooling says what becomes of an event for an agent in its cooldown.
type WhenCooling string

// The choices.
const (
	Drop  WhenCooling = ""      // no task
	Defer WhenCooling = "defer" // one task at the end of the cooldown
)

// Delayer gives an agent's delay.
type Delayer interface {
	Delay(d Delayed) time.Duration
}

// Delayed is who is delayed and when. Index counts the agents of the event, also those that are skipped.
type Delayed struct {
	EventID, AgentID string
	Index            int
	Now              time.Time
	Lever            ResponseDelayLever // the zero lever, at once, where response delays are off
}

// DelayFunc is a function as a Delayer.
type DelayFunc func(d Delayed) time.Duration

// Delay calls the function.
func (f DelayFunc) Delay(d Delayed) time.Duration { return f(d) }

// HumanDelay delays like a person; the zero deadline is none.
func HumanDelay(p DelayProfile, deadline time.Time) Delayer {
	return DelayFunc(func(d Delayed) time.Duration {
		return ResponseDelay(p, DelayInput{Seed: d.EventID + ":" + d.AgentID, Lever: d.Lever, Now: d.Now}, deadline).Wait
	})
}

// Pacing is how an agent paces itself.
type Pacing struct {
	Cooldown      time.Duration       // between tasks of one kind
	ResponseDelay *ResponseDelayLever // nil: multiplier 1, never at once
}

func (p Pacing) lever() ResponseDelayLever {
	if p.ResponseDelay == nil {
		return ResponseDelayLever{Multiplier: 1}
	}
	return *p.ResponseDelay
}

// Outcome is what became of an event for an agent.
type Outcome string

// The outcomes. Those without an agent stand for the whole rule.
const (
	Requested         Outcome = "requested"
	Deferred          Outcome = "deferred"        // in its cooldown: one task waits for the end of it
	Repeated          Outcome = "repeat"          // its once-only key is used up
	Cooling           Outcome = "cooldown"        // in its cooldown
	SharedCooling     Outcome = "shared_cooldown" // the shared cooldown lasts
	UnknownAgent      Outcome = "unknown_agent"
	DeclinedByRule    Outcome = "declined" // by the rule's Admit
	PausedType        Outcome = "paused"
	NoRule            Outcome = "no_rule"           // no type that is hosted has a rule for the event
	AlreadyDispatched Outcome = "dispatched_before" // this very event was dispatched before; nothing is taken or sent again
)

// Decision is what became of an event for an agent, for logs and counts.
type Decision struct {
	AgentID  string
	Kind     string
	Decision Outcome
	Reason   string        // with DeclinedByRule
	TaskID   string        // with Requested and Deferred
	Delay    time.Duration // with Requested and Deferred
	Until    time.Time     // with Cooling and SharedCooling, where the end is known
}

// MarshalJSON writes a decision with the members its outcome has.
func (d Decision) MarshalJSON() ([]byte, error) {
	w := struct {
		AgentID  string           `json:"agentId,omitempty"`
		Kind     string           `json:"kind,omitempty"`
		Decision Outcome          `json:"decision"`
		Reason   *string          `json:"reason,omitempty"`
		TaskID   string           `json:"taskId,omitempty"`
		DelayMs  *int64           `json:"delayMs,omitempty"`
		Until    contract.Instant `json:"until,omitempty"`
	}{AgentID: d.AgentID, Kind: d.Kind, Decision: d.Decision, TaskID: d.TaskID}
	if d.Decision == DeclinedByRule {
		w.Reason = &d.Reason
	}
	if !d.Until.IsZero() {
		w.Until = contract.At(d.Until)
	}
	if d.TaskID != "" {
		w.DelayMs = new(d.Delay.Milliseconds())
	}
	return json.Marshal(w)
}

// AgentTask is a task to be sent, now or later.
type AgentTask struct {
	TaskID    string
	AgentID   string
	Principal task.Principal
	Request   string
	Trigger   task.Trigger
	Delay     time.Duration
	RunAt     time.Time
}

// Dispatcher sends tasks. Sending one again does no harm: its id stays the same.
type Dispatcher interface {
	Dispatch(ctx context.Context, t AgentTask) error
}

// DispatchFunc is a function as a Dispatcher.
type DispatchFunc func(ctx context.Context, t AgentTask) error

// Dispatch calls the function.
func (f DispatchFunc) Dispatch(ctx context.Context, t AgentTask) error { return f(ctx, t) }
