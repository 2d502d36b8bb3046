package agency

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// DefaultRetention is how long gates and dispatches are remembered: longer than any task's row, and than an event can come back.
const DefaultRetention = 90 * 24 * time.Hour

// TableStore is a Store in a table, under the keys of the TypeScript package. What it owes, the table's sweep sends. It is a plain value,
// safe for concurrent use.
type TableStore struct {
	store.Table
	Retention time.Duration // of gates and dispatches; 0: DefaultRetention
}

func (s TableStore) gates(prefix string) TableGates {
	return TableGates{Table: s.Table, Prefix: prefix, Retention: s.Retention}
}

// ReadState implements StateStore.
func (s TableStore) ReadState(ctx context.Context, k StateKey) (Document, error) {
	d, err := s.AgentState(ctx, k.AgentID, k.Name, k.Scope)
	return Document(d), err
}

// WriteState implements StateStore.
func (s TableStore) WriteState(ctx context.Context, k StateKey, d Document) error {
	return s.Commit(ctx, s.put(k, d))
}

func (s TableStore) put(k StateKey, d Document) store.Write {
	return s.PutAgentState(k.AgentID, k.Name, k.Scope, store.AgentState(d))
}

// Admit implements Gates.
func (s TableStore) Admit(ctx context.Context, e Entry) (bool, error) {
	return s.gates("").Admit(ctx, e)
}

// Release implements Gates.
func (s TableStore) Release(ctx context.Context, slot, owner string) (bool, error) {
	return s.gates("").Release(ctx, slot, owner)
}

// Look implements Outbox.
func (s TableStore) Look(ctx context.Context, prefix, slot string) (Passed, bool, error) {
	g, ok, err := s.Gate(ctx, prefix, slot)
	at, _ := readTime(g.LastTriggeredAt)
	return Passed{g.Owner, at}, ok, err
}

// Owes implements Outbox.
func (s TableStore) Owes(ctx context.Context, taskID, delivery string) (bool, error) {
	d, err := s.Dispatch(ctx, taskID)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && d.Status == "owed" && d.DeliveryID == delivery, err
}

// Sent implements Outbox.
func (s TableStore) Sent(ctx context.Context, taskID string) error { return s.TaskSent(ctx, taskID) }

// Sweeps implements Outbox.
func (s TableStore) Sweeps() bool { return true }

// Paused implements Store.
func (s TableStore) Paused(ctx context.Context, agentType string) (bool, error) {
	return s.AgencyPaused(ctx, agentType)
}

// Reserve implements Outbox.
func (s TableStore) Reserve(ctx context.Context, r Reservation) (Reserved, error) {
	r.Request.DeliveryID = r.Request.Delivery("")
	if before, known, err := s.before(ctx, r.Request); known || err != nil {
		return before, err
	}
	mine := map[string]bool{} // gates that their owner has passed before
	for _, e := range r.Gates {
		if e.mine {
			mine[e.Slot] = true
		}
	}
	for {
		err := s.Commit(ctx, s.writes(r, mine)...)
		if !fault.Is(err, fault.Conflict) {
			return Reserved{Owed: true}, err
		}
		if store.RefusedBy(err, key.Dispatch(r.Request.TaskID)) || store.RefusedBy(err, key.Task(r.Request.TaskID)) {
			before, known, err := s.before(ctx, r.Request)
			if !known { // the task is there, by another way than the outbox
				before = Reserved{Before: true}
			}
			return before, err
		}
		shut, moved := r.refusedBy(err, mine)
		if shut != nil || !moved {
			return Reserved{Shut: shut}, conflictUnless(shut, err)
		}
	}
}

func conflictUnless(shut *Entry, err error) error {
	if shut != nil {
		return nil
	}
	return err
}

// refusedBy gives the gate that is shut. A gate that refused although it is its owner's is noted as such, and the write is worth repeating.
func (r Reservation) refusedBy(err error, mine map[string]bool) (shut *Entry, again bool) {
	for i, e := range r.Gates {
		g, refused := store.RefusedGate(err, r.Prefix, e.Slot)
		switch {
		case refused && g.Owner == e.Owner && !mine[e.Slot]:
			mine[e.Slot], again = true, true
		case refused:
			return &r.Gates[i], false
		}
	}
	return nil, again
}

// before tells of a reservation that is there.
func (s TableStore) before(ctx context.Context, r task.Request) (got Reserved, known bool, err error) {
	d, err := s.Dispatch(ctx, r.TaskID)
	if fault.Is(err, fault.NotFound) {
		return Reserved{}, false, nil
	}
	same := d.DeliveryID == r.DeliveryID
	return Reserved{Before: same, Other: !same, Owed: same && d.Status == "owed"}, err == nil, err
}

// writes are all that a reservation writes, in one transaction.
func (s TableStore) writes(r Reservation, mine map[string]bool) []store.Write {
	at, _ := readTime(r.Request.NotBefore)
	all := s.OwedTask(r.Request, at, s.gates("").retention())
	for _, e := range r.Gates {
		if mine[e.Slot] {
			all = append(all, store.CheckGate(r.Prefix, e.Slot, e.Owner))
		} else {
			all = append(all, s.gates(r.Prefix).pass(e, false))
		}
	}
	for _, d := range r.Documents {
		all = append(all, s.put(d.Key, d.Document))
	}
	return all
}

// TableGates are gates in a table, under the keys of the TypeScript package. It is a plain value, safe for concurrent use.
type TableGates struct {
	Table     store.Table
	Prefix    string
	Retention time.Duration // 0: DefaultRetention
}

func (g TableGates) retention() time.Duration {
	if g.Retention == 0 {
		return DefaultRetention
	}
	return g.Retention
}

// pass is the write of a passage. again lets an owner pass once more, which moves its window.
func (g TableGates) pass(e Entry, again bool) store.Write {
	o := store.Opening{Owner: again}
	switch {
	case e.as != nil:
		o.As = &store.Gate{Owner: e.as.Owner, LastTriggeredAt: contract.At(e.as.At)}
	case e.Window != nil && *e.Window == 0:
		o.Always = true
	case e.Window != nil:
		o.Until = new(contract.At(e.Now.Add(-*e.Window)))
	}
	return g.Table.PassGate(g.Prefix, e.Slot, store.Gate{
		Owner: e.Owner, LastTriggeredAt: contract.At(e.Now), ExpiresAt: e.Now.Add(g.retention()).Unix(),
	}, o)
}

// Admit implements Gates.
func (g TableGates) Admit(ctx context.Context, e Entry) (bool, error) {
	return unlessRefused(g.Table.Commit(ctx, g.pass(e, true)))
}

// Release implements Gates.
func (g TableGates) Release(ctx context.Context, slot, owner string) (bool, error) {
	return unlessRefused(g.Table.Commit(ctx, store.FreeGate(g.Prefix, slot, owner)))
}

func unlessRefused(err error) (bool, error) {
	if fault.Is(err, fault.Conflict) {
		return false, nil
	}
	return err == nil, err
}
