package agency

import (
	"context"
	"fmt"
)

// gateByGate is the plain way through: every gate for itself, then the dispatcher.
type gateByGate struct{ r Router }

func (g gateByGate) enter(ctx context.Context, at routing) (Decision, error) {
	for _, e := range at.entries {
		open, err := g.r.Gates.Admit(ctx, e)
		if err != nil {
			return Decision{}, fmt.Errorf("gate %s: %w", e.Slot, err)
		}
		if !open {
			return Decision{Decision: shutBy(e)}, nil
		}
	}
	return Decision{}, nil
}

// shutBy tells which gate of a rule is shut.
func shutBy(e Entry) Outcome {
	if e.Window == nil {
		return Repeated
	}
	return SharedCooling
}

func (g gateByGate) send(ctx context.Context, at routing, t AgentTask, gate Entry) (Decision, error) {
	d := Decision{AgentID: t.AgentID, Kind: at.kind, Decision: Cooling}
	open, err := g.r.Gates.Admit(ctx, gate)
	if err != nil || !open {
		return d, err
	}
	if err := g.r.Dispatch.Dispatch(ctx, t); err != nil {
		return d, fmt.Errorf("dispatch %s: %w", t.TaskID, err)
	}
	d.Decision, d.TaskID, d.Delay = Requested, t.TaskID, t.Delay
	return d, nil
}
