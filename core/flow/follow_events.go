package flow

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
)

// How a session is followed.
const (
	FollowFast  = 250 * time.Millisecond // between two looks at the log while something happens
	FollowSlow  = 2 * time.Second        // when nothing does
	FollowCheck = 10 * time.Second       // between two looks whether the session is still there
	Heartbeat   = 15 * time.Second       // longest silence
)

// FollowEvents replays a session's stream and goes on with it as it grows. It only reads: the log is the one truth, so there is
// neither gap nor repeat, whoever writes it.
type FollowEvents struct{ Edges }

// FollowEventsIn names the session and the first index. UntilIdle ends where nothing runs or waits; For, if it is not 0, ends after
// that time.
type FollowEventsIn struct {
	SessionOf
	From      int64
	UntilIdle bool
	For       time.Duration
}

// Check reports whether the session may be followed. Faults: Invalid, NotFound, Denied, Unavailable.
func (f FollowEvents) Check(ctx context.Context, in FollowEventsIn) error {
	if in.For < 0 {
		return fault.New(fault.Invalid, "seconds: must not be negative")
	}
	return f.readable(ctx, in.SessionOf, in.From)
}

// Do gives every event to show, in order, until ctx ends, it is asked to end, the session ends or show fails. show(nil) is a sign of
// life in a long silence. Call Check first. Faults: NotFound (deleted meanwhile), Unavailable; none when it ended as asked.
func (f FollowEvents) Do(ctx context.Context, in FollowEventsIn, show func(*contract.SessionEvent) error) error {
	if in.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, in.For)
		defer cancel()
	}
	l := &listening{FollowEvents: f, in: in, show: show, next: in.From, checked: f.Now(), shown: f.Now()}
	for {
		idle, err := l.rested(ctx)
		if err == nil {
			err = l.replay(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil || l.over || idle:
			return err
		}
		if err := l.wait(ctx); err != nil {
			return err
		}
	}
}

// listening is one follower.
type listening struct {
	FollowEvents
	in      FollowEventsIn
	show    func(*contract.SessionEvent) error
	next    int64
	pause   time.Duration
	checked time.Time // when the session was last looked at
	shown   time.Time // when something was last shown
	over    bool      // nothing can follow
}

// rested looks at the session: before the log, so that what it says of the end is in the log by then.
func (l *listening) rested(ctx context.Context) (idle bool, err error) {
	if !l.in.UntilIdle && l.Now().Sub(l.checked) < FollowCheck {
		return false, nil
	}
	l.checked = l.Now()
	s, err := l.mine(ctx, l.in.SessionOf)
	return l.in.UntilIdle && err == nil && (s.Phase == session.Idle || s.Phase == session.Done) && s.Pending() == 0, err
}

// replay shows what is new.
func (l *listening) replay(ctx context.Context) error {
	before := l.next
	for e, err := range l.events(ctx, l.in.SessionID, l.next) {
		if err == nil {
			err = l.show(&e)
		}
		if err != nil {
			return err
		}
		l.next, l.over = e.Index+1, e.Type == "session.completed" || e.Type == "session.failed"
	}
	if l.next > before {
		l.pause, l.shown = 0, l.Now()
	}
	return nil
}

// wait lets a moment pass, longer the longer nothing came.
func (l *listening) wait(ctx context.Context) error {
	l.pause = min(max(l.pause*2, FollowFast), FollowSlow)
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(l.pause):
	}
	if l.Now().Sub(l.shown) < Heartbeat {
		return nil
	}
	l.shown = l.Now()
	return l.show(nil)
}
