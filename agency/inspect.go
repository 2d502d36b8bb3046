package agency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Inspection is all that is kept of an agent, for an operator to look at.
type Inspection struct {
	AgentType   string                        `json:"agentType"`
	AgentID     string                        `json:"agentId"`
	Scope       string                        `json:"scope,omitempty"`
	Paused      bool                          `json:"paused"`
	Agenda      Agenda[json.RawMessage]       `json:"agenda"`
	Commitments []Commitment[json.RawMessage] `json:"commitments"`
	Tasks       []string                      `json:"tasks"`   // ids of those counted in the window of the cap and of those that own a commitment
	Counted     int                           `json:"counted"` // tasks in the window of the cap
	Cap         int                           `json:"cap,omitempty"`
	Gates       map[string]GateState          `json:"gates"` // the agent's cooldowns, by kind; those with a slot of their own are not known
}

// GateState is which task passed a gate last, and when: later than now for one that waits for the end of a cooldown.
type GateState struct {
	Owner string    `json:"owner"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero"` // when the agent's own cooldown ends, if it has not
}

// Inspect reads what is kept of an agent and changes nothing. Faults: ErrUnknownAgent, those of look-ups, Unavailable.
func (a *Agent) Inspect(ctx context.Context, agentID string) (Inspection, error) {
	in := Inspection{AgentType: a.name, AgentID: agentID, Commitments: []Commitment[json.RawMessage]{}, Tasks: []string{}, Gates: map[string]GateState{}}
	pacing, err := a.pacing(ctx, agentID)
	if errors.Is(err, ErrUnknownAgent) {
		return in, fmt.Errorf("%q of type %s: %w", agentID, a.name, err)
	}
	if err != nil {
		return in, fmt.Errorf("profile of %s: %w", agentID, err)
	}
	if in.Scope, err = a.scope(ctx, agentID); err != nil {
		return in, fmt.Errorf("scope of %s: %w", agentID, err)
	}
	if in.Paused, err = a.pause.on(ctx); err != nil {
		return in, fmt.Errorf("is %s paused: %w", a.name, err)
	}
	return in, errors.Join(a.inspectDocuments(ctx, &in), a.inspectGates(ctx, &in, pacing))
}

func (a *Agent) inspectDocuments(ctx context.Context, in *Inspection) error {
	key := func(name, scope string) StateKey {
		return StateKey{AgentID: in.AgentID, Name: a.name + "." + name, Scope: scope}
	}
	agenda, err := ReadState[Agenda[json.RawMessage]](ctx, a.store, key("agenda", in.Scope))
	if err != nil {
		return err
	}
	book, err := ReadState[CommitmentBook[json.RawMessage]](ctx, a.store, key("commitments", in.Scope))
	if err != nil {
		return err
	}
	used, err := ReadState[usage](ctx, a.store, key("usage", ""))
	if err != nil {
		return err
	}
	in.Agenda, in.Commitments = agenda.Value, append(in.Commitments, book.Value.Commitments...)
	for _, t := range used.Value.Tasks {
		if a.now().UnixMilli()-t.At < a.capWindow.Milliseconds() {
			in.Counted++
		}
		in.Tasks = append(in.Tasks, t.ID)
	}
	if a.cap != NoTaskCap {
		in.Cap = a.cap
	}
	for _, c := range in.Commitments {
		if owner := c.owner(); owner != "" && !slices.Contains(in.Tasks, owner) {
			in.Tasks = append(in.Tasks, owner)
		}
	}
	return nil
}

func (a *Agent) inspectGates(ctx context.Context, in *Inspection, pacing Pacing) error {
	for _, r := range a.rules {
		p, taken, err := a.store.Look(ctx, a.prefix(), CooldownSlot(in.AgentID, r.Kind, nil))
		if err != nil {
			return fmt.Errorf("cooldown of %s: %w", in.AgentID, err)
		}
		if !taken {
			continue
		}
		g := GateState{Owner: p.Owner, At: p.At}
		if until := p.At.Add(pacing.Cooldown); until.After(a.now()) {
			g.Until = until
		}
		in.Gates[r.Kind] = g
	}
	return nil
}
