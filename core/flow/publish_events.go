package flow

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// deltas are pieces of what another event says whole: channels are not told them.
var deltas = map[string]bool{"message.appended": true, "reasoning.appended": true}

// PublishEvents tells the session's channel what its log says from an index on, each event at least once, and gives the index after
// the last. An event that the bus will never take is logged and left out. Faults: Unavailable.
func (e Edges) PublishEvents(ctx context.Context, s session.State, from int64) (next int64, err error) {
	next = from
	var events []bus.Event
	for event, err := range e.Table.SessionEvents(ctx, s.SessionID, from) {
		if err != nil {
			return from, err
		}
		next = event.Index + 1
		if !deltas[event.Type] {
			events = append(events, bus.Event{DetailType: contract.AgentSessionEventType, Detail: contract.AgentSessionEvent{
				SessionEvent: event, Channel: s.Channel, ContinuationToken: s.ChannelKey,
			}})
		}
	}
	if len(events) == 0 {
		return next, nil
	}
	err = e.Bus.Publish(ctx, events...)
	if fault.ReasonOf(err) == bus.Rejected {
		e.log().ErrorContext(ctx, "the bus rejects an event of a session", "session", s.SessionID, "from", from)
		err = nil
	}
	if err != nil {
		return from, err
	}
	return next, nil
}

// publishOwed tells the channel of a session at rest what it is owed.
func (e Edges) publishOwed(ctx context.Context, s session.State) error {
	to, err := e.PublishEvents(ctx, s, s.PublishedTo)
	if err != nil {
		return err
	}
	err = e.Table.Commit(ctx, store.ChangeState(s.Published(to)))
	if fault.Is(err, fault.Conflict) { // somebody is at it
		return nil
	}
	return err
}
