package turn

import (
	"context"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/socket"
)

// openSockets begins to post the open turn to who follows the session, or goes on doing so. Nobody following, or not being able
// to tell, never keeps a turn from running.
func (o *owner) openSockets(ctx context.Context) {
	if o.cast != nil && o.casting == o.state.TurnSeq {
		return
	}
	o.post(ctx)
	if o.took != o.state.TurnSeq {
		o.cast.Start()
		return
	}
	o.ids = o.deliveries(ctx)
	o.cast.Resume(o.shown(ctx))
	if h, err := o.load(ctx); err != nil || !asksForTools(h.Messages) {
		o.cast.Reset(2) // the owner before may have shown a part of what is asked again now
	}
}

// post begins the posts of the open turn without saying anything yet.
func (o *owner) post(ctx context.Context) {
	o.stopSockets()
	caster := o.Sockets
	if caster == nil {
		caster = &socket.Caster{}
	}
	o.cast, o.casting = caster.Turn(o.followers(ctx), o.id, o.state.TurnID(), o.me.Fence), o.state.TurnSeq
}

func (o *owner) followers(ctx context.Context) []socket.Subscriber {
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
		if c.UserID == o.state.Principal.ID { // who asked to follow before the session was somebody else's sees nothing
			list = append(list, socket.Subscriber{ConnectionID: c.ID, ConnectedAt: time.UnixMilli(c.ConnectedAt), Features: c.Features})
		}
	}
	return list
}

// shown counts the characters that the turn's finished steps have shown, for an owner that takes over in the middle.
func (o *owner) shown(ctx context.Context) int64 {
	h, err := o.load(ctx)
	if err != nil {
		return 0
	}
	n := 0
	for i := len(h.Messages) - 1; i >= 0 && len(h.Messages)-i <= int(o.state.Step); i-- {
		n += utf8.RuneCountInString(assistantText(h.Messages[i]))
	}
	return int64(n)
}

func (o *owner) stopSockets() {
	if o.cast != nil {
		o.cast.Close()
		o.cast = nil
	}
}

func asksForTools(messages []model.Message) bool {
	return len(messages) > 0 && len(messages[len(messages)-1].Calls()) > 0
}

// deliveries are the sends that the open turn answers, for an owner that did not begin it: its prompt's, and those it took since.
func (o *owner) deliveries(ctx context.Context) []string {
	var ids []string
	for e, err := range o.Table.SessionEvents(ctx, o.id, o.state.Prompt) {
		if err != nil {
			o.log.WarnContext(ctx, "the turn's deliveries are not known", "error", err)
			return nil
		}
		var d struct {
			DeliveryIDs []string
			DeliveryID  string
		}
		if (e.Type == "message.received" || e.Type == "nudge.delivered") && json.Unmarshal(e.Data, &d) == nil {
			ids = append(ids, d.DeliveryIDs...)
			if d.DeliveryID != "" {
				ids = append(ids, d.DeliveryID)
			}
		}
	}
	return ids
}
