package turn

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/retell"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/socket"
	"github.com/steadfast-agents/steadfast/core/task"
)

// openSockets begins to post the open turn to those who follow the session, or goes on doing so. Nobody following, or not being able
// to tell, never keeps a turn from running.
func (o *owner) openSockets(ctx context.Context) {
	if o.cast != nil && o.casting == o.state.TurnSeq {
		if o.asking && !o.asked(ctx) {
			o.cast.Reset(2) // this owner asks again what it has shown a part of
		}
		return
	}
	o.post(ctx)
	if o.took != o.state.TurnSeq {
		o.cast.Start(new(o.state.Prompt - 1))
		return
	}
	o.resume(ctx)
	if !o.asked(ctx) {
		o.cast.Reset(2) // the owner before may have shown a part of what is asked again now
	}
}

// asked reports whether the reply that was shown last is saved: then its tools are next, and nothing is asked again.
func (o *owner) asked(ctx context.Context) bool {
	h, err := o.load(ctx)
	_, missing := openCalls(h.Messages)
	return err == nil && len(missing) > 0
}

// post begins the posts of the open turn without saying anything yet.
func (o *owner) post(ctx context.Context) {
	o.stopSockets()
	caster := o.Sockets
	if caster == nil {
		caster = &socket.Caster{}
	}
	o.cast, o.casting = caster.Turn(o.followers(ctx, o.state.Principal.ID), o.id, o.state.TurnID(), o.me.Fence), o.state.TurnSeq
}

func (o *owner) followers(ctx context.Context, userID string) []socket.Subscriber {
	if o.Sockets == nil {
		return nil
	}
	connections, err := o.Table.Subscribers(ctx, o.id)
	if err != nil {
		o.log.WarnContext(ctx, "followers are not known", "error", err)
		return nil
	}
	var list []socket.Subscriber
	for _, c := range connections {
		if c.UserID == userID { // who asked to follow before the session was somebody else's sees nothing
			list = append(list, socket.Subscriber{
				ConnectionID: c.ID, ConnectedAt: time.UnixMilli(c.ConnectedAt), Features: c.Features, Asked: c.Asked,
			})
		}
	}
	return list
}

// latecomers makes those follow the open turn who came since it was looked at last. They are told what they missed.
func (o *owner) latecomers(ctx context.Context, cast *socket.Turn) {
	o.join(ctx, cast, o.state.Principal.ID)
}

// join is latecomers for a goroutine that must not look at the state.
func (o *owner) join(ctx context.Context, cast *socket.Turn, userID string) {
	if cast == nil { // no turn is told
		return
	}
	for _, s := range o.followers(ctx, userID) {
		cast.Add(s)
	}
}

// audience is what changes in the state when somebody may have come.
type audience struct{ followed, admitted int64 }

func audienceOf(s session.State) audience { return audience{s.Followed, s.Admitted} }

func (o *owner) stopSockets() {
	if o.cast != nil {
		o.cast.Close()
		o.cast = nil
	}
}

// sayCancelled tells the followers of messages that no turn will answer.
func (o *owner) sayCancelled(ctx context.Context, open opening) {
	if o.Sockets == nil || len(open.cancelled) == 0 {
		return
	}
	cast := o.Sockets.Turn(o.followers(ctx, o.state.Principal.ID), o.id, open.notice(), o.me.Fence)
	cast.Fail(task.ReasonCancelled, beforeItBegan, deliveryIDs(open.cancelled)...)
	cast.Close()
}

// resume goes on with the posts of a turn that another owner began, as its log tells it.
func (o *owner) resume(ctx context.Context) {
	var told retell.Turn
	for e, err := range o.Table.SessionEvents(ctx, o.id, max(o.state.Prompt-1, 0)) {
		if err != nil {
			o.log.WarnContext(ctx, "what the turn has shown is not known", "error", err)
			break
		}
		if e.TurnID == o.state.TurnID() && e.Index < o.next {
			told.Event(e)
		}
	}
	o.ids = told.Deliveries()
	o.cast.Resume(told)
}
