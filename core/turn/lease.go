package turn

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
)

// keepLease renews the lease and looks for flags while a turn runs. The context it gives ends with the reason: errFlagged,
// errLost, errHandOff or errPlace. stop ends the keeping and gives that reason, nil if there was none.
func (o *owner) keepLease(ctx context.Context) (running context.Context, stop func() error) {
	running, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	state := o.state // a copy: the turn's own goroutine moves on
	late := o.late(ctx)
	seen, cast := audienceOf(state), o.cast
	go func() {
		defer close(done)
		ticker := time.NewTicker(o.poll())
		defer ticker.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-late:
				cancel(errHandOff)
				return
			case <-ticker.C:
				now, err := o.tick(running, state)
				if err != nil {
					cancel(err)
					return
				}
				if a := audienceOf(now); now.SessionID != "" && a != seen {
					seen = a
					o.join(running, cast, state.Principal.ID)
				}
			}
		}
	}()
	return running, func() error {
		cancel(nil)
		<-done
		switch cause := context.Cause(running); cause {
		case errFlagged, errLost, errHandOff, errPlace:
			return cause
		}
		return nil
	}
}

// late gives the moment at which the time of this invocation gets short; nil if it never does.
func (o *owner) late(ctx context.Context) <-chan time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil
	}
	return time.After(time.Until(deadline) - o.reserve)
}

func (o *owner) poll() time.Duration {
	if o.Poll > 0 {
		return o.Poll
	}
	return time.Second
}

// tick looks at the row once and gives it, and renews the lease when nothing has for a while. A table that does not answer ends
// nothing until the lease is over, and is waited for no longer.
func (o *owner) tick(ctx context.Context, state session.State) (now session.State, err error) {
	sent := o.Now()
	old := sent.Sub(time.Unix(0, o.leased.Load()))
	ctx, cancel := context.WithTimeout(ctx, max(session.Lease-session.Margin-old, o.poll()))
	defer cancel()
	if old >= session.Heartbeat {
		now, err = o.Table.Renew(ctx, state.Renew(o.me, sent))
		if err == nil {
			o.extended(sent)
		}
	} else {
		now, err = o.Table.State(ctx, o.id)
	}
	switch {
	case fault.Is(err, fault.Conflict), fault.Is(err, fault.NotFound):
		return now, errLost
	case err != nil && !o.mayAct():
		return now, errLost
	case err != nil:
		return session.State{}, nil
	case !now.Mine(o.me.Owner, o.me.Fence):
		return now, errLost
	case now.Phase == session.Open && (now.Stopped() || now.Preempted()):
		return now, errFlagged
	}
	return now, o.keepPlaces(ctx)
}

// extended notes a lease-extending write that was sent then; it never goes back.
func (o *owner) extended(sent time.Time) {
	for {
		was := o.leased.Load()
		if sent.UnixNano() <= was || o.leased.CompareAndSwap(was, sent.UnixNano()) {
			return
		}
	}
}
