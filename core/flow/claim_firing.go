package flow

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/store"
)

// claiming is one worker's way to a firing of a handler: claimed first, started then, and only then run.
type claiming struct {
	Edges
	firing schedule.FiringRow // which it is
	owner  string
	lease  time.Duration
}

// start gives the firing as it stands, and whether this worker has started it.
func (c claiming) start(ctx context.Context) (row schedule.FiringRow, mine bool, err error) {
	row, err = racing(ctx, func() (schedule.FiringRow, bool, error) { return c.step(ctx) })
	return row, err == nil && row.Owner == c.owner, err
}

// step does the next write on the way, and is settled when the firing is started by this worker, or another's.
func (c claiming) step(ctx context.Context) (schedule.FiringRow, bool, error) {
	row, err := c.Table.Firing(ctx, c.firing.Key())
	now := c.Now()
	var w store.Write
	switch claim, free := row.Claim(c.owner, now); {
	case fault.Is(err, fault.NotFound):
		w = c.Table.NewFiring(c.firing.ClaimFirst(c.owner, now))
	case err != nil:
		return row, false, err
	case row.Owner == c.owner && row.Status == schedule.FiringClaimed:
		w = store.ChangeFiring(row.Start(c.lease, now))
	case row.Owner == c.owner || !free:
		return row, true, nil
	default:
		w = store.ChangeFiring(claim)
	}
	if err := c.Table.Commit(ctx, w); !fault.Is(err, fault.Conflict) {
		return row, false, err
	}
	return row, false, nil
}

// beforeTheEnd is kept for saving the end of a handler that takes as long as it may.
const beforeTheEnd = 5 * time.Second

// handlerLease is how long a handler may take at most: what is left of the invocation, else usual, default 15 minutes.
func handlerLease(ctx context.Context, usual time.Duration, now time.Time) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline.Sub(now)
	}
	if usual > 0 {
		return usual
	}
	return 15 * time.Minute
}

// runHandler calls a handler and gives what it failed with, "" if it did not.
func runHandler(ctx context.Context, lease time.Duration, run func(context.Context) error) (failure string) {
	defer func() {
		if p := recover(); p != nil {
			failure = fmt.Sprintf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, max(lease-beforeTheEnd, time.Second))
	defer cancel()
	if err := run(ctx); err != nil {
		text := []rune(err.Error())
		return string(text[:min(len(text), 1000)])
	}
	return ""
}
