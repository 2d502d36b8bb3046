package store

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// Firing reads a firing by its key. Faults: NotFound, Unavailable.
func (t Table) Firing(ctx context.Context, k key.Key) (schedule.FiringRow, error) {
	var f schedule.FiringRow
	found, err := t.getInto(ctx, k, &f)
	if err == nil && (!found || f.ExpiresAt <= t.now().Unix()) {
		err = fault.New(fault.NotFound, "no such firing")
	}
	return f, err
}

// NewFiring is the write of a firing that nobody has claimed.
func (t Table) NewFiring(f schedule.FiringRow) Write {
	w := create(f.Key(), "ScheduleFiring", f)
	w.cond = new(absentOrExpired(t.now().Unix()))
	return w
}

// ChangeFiring is the write of a firing's transition.
func ChangeFiring(c schedule.FiringChange) Write {
	return change(c.To.Key(), c.From, c.To, c.If)
}
