package store

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
)

// Gate is a trigger gate: who passed it last, and when.
type Gate struct {
	Owner           string           `dynamodbav:"owner"`
	LastTriggeredAt contract.Instant `dynamodbav:"lastTriggeredAt"`
	ExpiresAt       int64            `dynamodbav:"expiresAt"` // s
}

// Opening says when a gate that somebody passed lets another pass.
type Opening struct {
	Owner  bool              // its own owner passes
	Always bool              // everyone does
	Until  *contract.Instant // everyone does if it was passed at or before then; nil: nobody
	As     *Gate             // everyone does if it is as it was read
}

// Gate reads a gate; ok is false if it is free. Faults: Unavailable.
func (t Table) Gate(ctx context.Context, prefix, slot string) (g Gate, ok bool, err error) {
	row, err := t.get(ctx, key.Gate(prefix, slot))
	if err != nil || row == nil || expired(row, t.now()) {
		return Gate{}, false, err
	}
	return g, true, decode(row, &g)
}

// PassGate is the write of a passage, refused if the gate is shut.
func (t Table) PassGate(prefix, slot string, g Gate, o Opening) Write {
	w := create(key.Gate(prefix, slot), "TriggerGate", g)
	open := []cond.Expr{absentOrExpired(t.now().Unix())}
	if o.Owner {
		open = append(open, cond.Eq("owner", g.Owner))
	}
	if o.Always {
		open = append(open, cond.Exists(key.PK))
	}
	if o.Until != nil {
		open = append(open, cond.Is("lastTriggeredAt", cond.OpLe, string(*o.Until)))
	}
	if o.As != nil {
		open = append(open, cond.And(cond.Eq("owner", o.As.Owner), cond.Eq("lastTriggeredAt", string(o.As.LastTriggeredAt))))
	}
	w.cond = new(cond.Or(open...))
	return w
}

// CheckGate is the condition that a gate is owner's.
func CheckGate(prefix, slot, owner string) Write {
	return Write{key: key.Gate(prefix, slot), cond: new(cond.Eq("owner", owner))}
}

// FreeGate is the removal of a gate, refused if it is not owner's.
func FreeGate(prefix, slot, owner string) Write {
	return Write{key: key.Gate(prefix, slot), del: true, cond: new(cond.Eq("owner", owner))}
}

// RefusedGate gives the gate that refused a Commit; the zero gate when there is none.
func RefusedGate(err error, prefix, slot string) (g Gate, refused bool) {
	r, ok := refusal(err)
	if !ok || !r.By(key.Gate(prefix, slot)) {
		return g, false
	}
	if row := r.rows[key.Gate(prefix, slot)]; len(row) > 0 {
		_ = decode(row, &g)
	}
	return g, true
}
