package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
)

// TellChannel gives an event of a session to the handlers of its channel. What they cannot take now comes again later.
type TellChannel struct {
	Edges
	Channels channel.Set
	Later    interface {
		Send(ctx context.Context, e bus.Timed) (time.Time, error)
	}
	Alarms Alarms // of the reminders that handlers make; nil: they make none
}

// How long a channel is told again: after 30 s, then twice as long each time up to an hour, for about a day.
const (
	TellFirst = 30 * time.Second
	TellMost  = time.Hour
	TellTries = 30
)

// Do gives the event to its handler. The same event again goes to the handler again. An error means that it could not be put off either,
// or was put off too often: then nobody tells it any more. Faults: Unavailable.
func (f TellChannel) Do(ctx context.Context, e contract.AgentSessionEvent) error {
	c, ok := f.Channels.Get(e.Channel)
	if !ok {
		return nil // it is another program's, or one that only sends
	}
	handler := c.Events.Handler(e.Type)
	if handler == nil {
		return nil
	}
	s, err := f.Table.State(ctx, e.SessionID)
	if fault.Is(err, fault.NotFound) || err == nil && s.Phase == session.Deleted {
		return nil // nobody is told any more what was said there
	}
	if err != nil {
		return err
	}
	err = handler(f.context(ctx, c, e, s.Principal), e.SessionEvent)
	switch {
	case err == nil:
		return nil
	case fault.Is(err, fault.Invalid):
		f.log().ErrorContext(ctx, "a channel does not take an event", "channel", c.ID, "session", e.SessionID, "index", e.Index, "error", err)
		return nil
	case e.Attempt+1 >= TellTries:
		return fault.Wrap(fault.Unavailable, err, "channel %s was not told of event %d of %s", c.ID, e.Index, e.SessionID)
	}
	return f.again(ctx, e, err)
}

func (f TellChannel) context(ctx context.Context, c channel.Channel, e contract.AgentSessionEvent, who contract.Principal) channel.Context {
	sends := 0
	cc := channel.Context{Context: ctx, Principal: who, SessionID: e.SessionID, ContinuationToken: e.ContinuationToken, Log: f.log()}
	if f.Alarms != nil {
		cc.Reminders = HostReminders{Reminders{Edges: f.Edges, Alarms: f.Alarms}, who}
	}
	return channel.NewContext(cc, func(m contract.Message) (contract.Delivery, error) {
		sends++
		if m.DeliveryID == "" {
			m.DeliveryID = fmt.Sprintf("told:%s:%d:%d", key.Hash(e.SessionID), e.Index, sends)
		}
		if m.SessionID == "" && m.ContinuationToken == "" {
			m.SessionID = e.SessionID
		}
		return f.say(ctx, c, who, m)
	})
}

// again has the event told later.
func (f TellChannel) again(ctx context.Context, e contract.AgentSessionEvent, why error) error {
	wait := min(TellFirst<<min(e.Attempt, 10), TellMost)
	name := schedule.Name(schedule.Event, fmt.Sprintf("tell/%s/%d/%d", e.SessionID, e.Index, e.Attempt))
	e.Attempt++
	detail, err := json.Marshal(e)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encode event %d", e.Index)
	}
	f.log().WarnContext(ctx, "a channel could not take an event", "channel", e.Channel, "session", e.SessionID, "index", e.Index, "attempt", e.Attempt, "again", wait, "error", why)
	_, err = f.Later.Send(ctx, bus.Timed{Name: name, At: f.Now().Add(wait), DetailType: contract.AgentSessionEventType, Detail: detail, Keep: true})
	return err
}
