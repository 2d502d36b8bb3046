package loop

import (
	"context"
	"iter"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// Send gives one message to a client. Its errors are the client's affair: they never end a turn.
type Send func(ctx context.Context, m contract.ServerMessage) error

// StreamTurn speaks a turn's events to a client and gives the text that was shown. The turn ends with a complete message, or,
// if events end in an error or before a model.Stop, with an error message that says no more than a caller may know; that
// error is returned. A model.Reset takes back what the reply under way has shown, as it does on the client.
func StreamTurn(ctx context.Context, events iter.Seq2[model.Event, error], sessionID string, send Send) (string, error) {
	kept, text := "", strings.Builder{} // of the replies before, of the one under way
	say := func(m contract.ServerMessage) {
		_ = send(ctx, m) // nobody listening is no failure of the turn
	}
	fail := func(err error) (string, error) {
		say(contract.ServerMessage{Type: contract.TypeError, Error: string(fault.CodeOf(err)), Message: fault.Public(err)})
		return kept + text.String(), err
	}
	begun, whole := false, false
	for event, err := range events {
		if err != nil {
			return fail(err)
		}
		switch e := event.(type) {
		case model.TextDelta:
			text.WriteString(e.Text)
		case model.Reset:
			text.Reset()
		}
		bodies := contract.StreamBodies(event)
		if _, late := event.(model.UsageReport); !begun && !late {
			begun, whole = true, false
			bodies = append([]contract.StreamEventBody{{InitEventLoop: true}}, bodies...)
		}
		if _, ok := event.(model.Stop); ok {
			begun, whole = false, true // what comes now is the next model call's
			kept += text.String()
			text.Reset()
		}
		for i := range bodies {
			say(contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &bodies[i]})
		}
	}
	if !whole {
		return fail(fault.New(fault.Unavailable, "the model's answer was cut off").Because("stream_cut"))
	}
	say(contract.ServerMessage{Type: contract.TypeComplete, SessionID: sessionID})
	return kept, nil
}
