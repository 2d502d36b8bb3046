package turn

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/socket"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// owner is one claim of one session. It is used by one goroutine; the lease's keeper touches only leased.
type owner struct {
	*Engine
	id    string
	me    session.Me
	state session.State // as last read or written
	fresh bool          // state is the row as the claim left it
	took  int64         // the turn that was open when the session was claimed
	whole bool          // most of an invocation's time was left then

	reserve time.Duration // what of the invocation's time is kept for handing the session on
	next    int64         // index of the next event
	buffer  []contract.SessionEvent
	log     *slog.Logger

	leased   atomic.Int64 // when the last write that extended the lease was sent, ns
	history  *snapshot.History
	restored bool // the history was read from the table
	cast     *socket.Turn
	casting  int64    // the turn that cast posts
	asking   bool     // a step began whose reply is not known to be saved
	used     used     // by the open turn
	ids      []string // deliveries that the open turn answers
	config   configuration
	begun    begun
	places   []session.Place // that let the turn run
	left     string          // scope of the line that the session has left without a place; who is next has to be woken
	placed   atomic.Int64    // when the write of their lease was sent, ns
	told     int64           // index before which the session's channel knows everything
	files    *fileRows       // of the run, for its tools
	skills
	tooLong tooLong
}

// maxReloads bounds how often an owner starts over without getting on: the sweep tries again later.
const maxReloads = 30

func (o *owner) run(ctx context.Context) error {
	before := o.state
	for n := 0; n < maxReloads; n++ {
		err := o.reload(ctx)
		if moved(before, o.state) {
			before, n = o.state, 0
		}
		for done := false; err == nil; {
			if done, err = o.act(ctx); done && err == nil {
				return nil
			}
		}
		if !errors.Is(err, errReload) && (!fault.Retryable(err) || ctx.Err() != nil) {
			return o.leave(ctx, err)
		}
	}
	return fault.New(fault.Unavailable, "session %s does not settle", o.id)
}

// moved reports whether an owner got on from one state to the other.
func moved(a, b session.State) bool {
	return a.Taken != b.Taken || a.TurnSeq != b.TurnSeq || a.Step != b.Step || a.Phase != b.Phase || a.NextIndex != b.NextIndex || a.Tip != b.Tip
}

// leave turns the reason to stop into what the invocation answers.
func (o *owner) leave(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errLost):
		return o.lost(ctx)
	case errors.Is(err, errHandOff) && o.stuck(ctx):
		if done, err := o.endFailed(ctx, errTimeout, o.spent()); done && err == nil {
			return nil
		}
		return o.handOff(ctx)
	case errors.Is(err, errHandOff):
		return o.handOff(ctx)
	case ctx.Err() == nil && errors.Is(o.reload(ctx), errLost):
		return o.lost(ctx) // rows may be missing because the session was deleted meanwhile
	}
	return err
}

// lost tells the log that this owner's fence is stale: its lease was over, or the session was deleted. Whoever has it now goes on.
func (o *owner) lost(ctx context.Context) error {
	o.log.WarnContext(ctx, "session lost")
	return nil
}

// errTimeout is the reason of a turn with a step that takes longer than an invocation may.
const errTimeout = "timeout"

// stuck reports whether this invocation spent all its time on one step and saw no end of it: the next would do the same.
func (o *owner) stuck(ctx context.Context) bool {
	return o.whole && ctx.Err() == nil && o.state.Phase == session.Open && o.took == o.state.TurnSeq && o.state.Tries > 0
}

// act does the next thing that the state calls for. done ends the ownership.
func (o *owner) act(ctx context.Context) (done bool, err error) {
	s := o.state
	switch {
	case s.Phase == session.Open && s.Withheld:
		return o.withdraw(ctx)
	case s.Phase == session.Open && (s.Stopped() || s.Preempted()):
		return o.endFlagged(ctx, nil, o.spent())
	case s.Phase == session.Open && s.Tries > session.MaxTries:
		return o.endFailed(ctx, task.ReasonWorkerLost, o.spent())
	case s.Phase == session.Open && o.short(ctx):
		return false, errHandOff
	case s.Phase == session.Open:
		return o.work(ctx)
	case s.Phase == session.Idle && s.Pending() > 0:
		return o.begin(ctx)
	case s.Phase == session.Idle:
		return true, o.release(ctx)
	}
	return true, nil
}

// reload reads what there is, as the answer to every unknown outcome. The claim has answered with the row: the first time that is
// not read again, and neither is the log's end when no turn is open, for then nobody may write after the row's index; should
// somebody, the first event of this owner is refused.
func (o *owner) reload(ctx context.Context) error {
	s, fresh := o.state, o.fresh
	o.fresh = false
	if !fresh {
		var err error
		s, err = o.Table.State(ctx, o.id)
		if fault.Is(err, fault.NotFound) || err == nil && !s.Mine(o.me.Owner, o.me.Fence) {
			return errLost
		}
		if err != nil {
			return err
		}
	}
	next := s.NextIndex
	if !fresh || s.Phase != session.Idle {
		var err error
		if next, err = o.logEnd(ctx, next); err != nil {
			return err
		}
	}
	o.buffer = o.untold(s, next)
	o.state, o.next = s, next
	return nil
}

// logEnd gives the index after the last event from index on.
func (o *owner) logEnd(ctx context.Context, next int64) (int64, error) {
	rows, err := o.Table.EventRows(ctx, o.id, next)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if row.Fence > o.me.Fence {
			return 0, errLost // a newer owner is at work, whatever STATE said
		}
		next = row.Index + row.Count
	}
	return next, nil
}

// commit writes a transition of the state with all that belongs to it. A refusal or an unknown outcome means reload.
func (o *owner) commit(ctx context.Context, c session.Change, extends bool, writes ...store.Write) error {
	sent := o.Now()
	c.To.PublishedTo = max(c.To.PublishedTo, o.told)
	left := c.From.Queued && !c.To.Queued && len(o.places) == 0
	if left { // what it waited to do is over
		writes = append(writes, store.DropWaiter(c.From.Waiter(c.From.QueuedIn, sent)))
	}
	err := o.Table.Commit(ctx, append(writes, store.ChangeState(c))...)
	if err == nil {
		o.state = c.To
		if extends {
			o.extended(sent)
		}
		if left {
			o.left = c.From.QueuedIn
		}
		return nil
	}
	if fault.Is(err, fault.Conflict) || fault.Retryable(err) && ctx.Err() == nil {
		o.log.DebugContext(ctx, "write not taken", "error", err)
		return errors.Join(errReload, err)
	}
	return err
}

// events gives the buffered events and more, numbered from next on.
func (o *owner) events(turnID string, data ...contract.EventData) []contract.SessionEvent {
	now := o.Now()
	all := append([]contract.SessionEvent{}, o.buffer...)
	for _, d := range data {
		all = append(all, flow.Event(o.id, turnID, o.next+int64(len(all)), now, d))
	}
	return all
}

func (o *owner) eventsWrite(events []contract.SessionEvent) store.Write {
	return store.NewEvents(o.id, o.me, events, o.Now().Add(session.RowLife).Unix())
}

// wrote notes that events are in the log.
func (o *owner) wrote(events []contract.SessionEvent) {
	o.next += int64(len(events))
	o.buffer = nil
}

func (o *owner) release(ctx context.Context) error {
	return o.commit(ctx, o.state.Release(o.me), false)
}

// handOff gives the session up with its work left, and only then wakes the next owner.
func (o *owner) handOff(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) > 2*socket.CloseTime {
		o.stopSockets() // so that nobody else posts when the next owner begins to
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := o.Table.Commit(ctx, store.ChangeState(o.state.HandOff(o.me, o.spend(session.Spent{}), o.Now())))
	if fault.Is(err, fault.Conflict) {
		return nil // it is somebody else's already
	}
	if err != nil {
		return err
	}
	o.places = nil // the next owner goes on in them
	o.log.InfoContext(ctx, "handed off")
	if err := o.Bus.RunTurn(ctx, o.id); err != nil {
		o.log.WarnContext(ctx, "the trigger was not published, the sweep will", "error", err)
	}
	return nil
}

// short reports whether too little time is left to begin something.
func (o *owner) short(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < o.reserve
}

// mayAct reports whether the lease is good by this owner's own clock.
func (o *owner) mayAct() bool {
	return o.Now().Sub(time.Unix(0, o.leased.Load())) < session.Lease-session.Margin
}
