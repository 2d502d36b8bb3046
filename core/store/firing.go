package store

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// Firing reads a firing of a schedule; at is in milliseconds. Faults: NotFound, Unavailable.
func (t Table) Firing(ctx context.Context, scheduleID string, at int64) (schedule.FiringRow, error) {
	var f schedule.FiringRow
	found, err := t.getInto(ctx, key.Firing(scheduleID, at), &f)
	if err == nil && (!found || f.ExpiresAt <= t.now().Unix()) {
		err = fault.New(fault.NotFound, "no such firing")
	}
	return f, err
}

// NewFiring is the write of a firing that nobody has claimed.
func (t Table) NewFiring(f schedule.FiringRow) Write {
	w := create(key.Firing(f.ScheduleID, f.At), "ScheduleFiring", f)
	w.cond = new(absentOrExpired(t.now().Unix()))
	return w
}

// ChangeFiring is the write of a transition.
func ChangeFiring(c schedule.FiringChange) Write {
	return change(key.Firing(c.To.ScheduleID, c.To.At), c.From, c.To, c.If)
}

// RefusedFiring reports whether the firing refused a Commit.
func RefusedFiring(err error, scheduleID string, at int64) bool {
	return RefusedBy(err, key.Firing(scheduleID, at))
}
