package store

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

// maxWaiters is how far back in a line is looked.
const maxWaiters = 1000

// Line reads the places of a scope and the first thousand who wait for one. Max is left to the caller. Faults: Unavailable.
func (t Table) Line(ctx context.Context, scopeName string) (session.Line, error) {
	l := session.Line{Scope: scopeName}
	for row, err := range t.query(ctx, scope{pk: key.SlotPK(scopeName), keys: prefix(key.SlotPrefix)}) {
		var p session.Place
		if err == nil {
			err = decode(row, &p)
		}
		if err != nil {
			return l, err
		}
		l.Places = append(l.Places, p)
	}
	for row, err := range t.query(ctx, scope{pk: key.SlotPK(scopeName), keys: prefix(key.WaiterPrefix), pageSize: maxWaiters}) {
		var w session.Waiter
		if err == nil {
			err = decode(row, &w)
		}
		if err != nil {
			return l, err
		}
		if l.Waiters = append(l.Waiters, w); len(l.Waiters) == maxWaiters {
			break
		}
	}
	return l, nil
}

// TakePlace is the write of a place that a session's owner gets, refused if it is another session's.
func (t Table) TakePlace(p session.Place) Write {
	w := create(key.Slot(p.Scope, p.Number), "Place", p)
	w.cond = new(p.May(t.now()))
	return w
}

// KeepPlace is the write of a longer lease of a place, refused if it is not its owner's any more.
func KeepPlace(from, to session.Place) Write {
	return change(key.Slot(from.Scope, from.Number), from, to, from.Mine())
}

// LeavePlace is the removal of a place, refused if it is not its owner's any more.
func LeavePlace(p session.Place) Write {
	return Write{key: key.Slot(p.Scope, p.Number), del: true, cond: new(p.Mine())}
}

// PutWaiter is the write of a session that waits for a place.
func PutWaiter(w session.Waiter) Write {
	k := key.Waiter(w.Scope, w.Since, w.SessionID)
	row, err := encode(k, "Waiter", w)
	return Write{key: k, put: row, err: err}
}

// DropWaiter is the removal of a waiting session; it is no error if it is not there.
func DropWaiter(w session.Waiter) Write {
	return Write{key: key.Waiter(w.Scope, w.Since, w.SessionID), del: true}
}
