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
// error is returned.
func StreamTurn(ctx context.Context, events iter.Seq2[model.Event, error], sessionID string, send Send) (string, error) {
	var text strings.Builder
	say := func(m contract.ServerMessage) {
		_ = send(ctx, m) // nobody listening is no failure of the turn
	}
	fail := func(err error) (string, error) {
		say(contract.ServerMessage{Type: contract.TypeError, Error: string(fault.CodeOf(err)), Message: fault.Public(err)})
		return text.String(), err
	}
	begun, whole := false, false
	for event, err := range events {
		if err != nil {
			return fail(err)
		}
		if d, ok := event.(model.TextDelta); ok {
			text.WriteString(d.Text)
		}
		bodies := streamBodies(event)
		if _, late := event.(model.UsageReport); !begun && !late {
			begun, whole = true, false
			bodies = append([]contract.StreamEventBody{{InitEventLoop: true}}, bodies...)
		}
		if _, ok := event.(model.Stop); ok {
			begun, whole = false, true // what comes now is the next model call's
		}
		for i := range bodies {
			say(contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &bodies[i]})
		}
	}
	if !whole {
		return fail(fault.New(fault.Unavailable, "the model's answer was cut off").Because("stream_cut"))
	}
	say(contract.ServerMessage{Type: contract.TypeComplete, SessionID: sessionID})
	return text.String(), nil
}

// streamBodies is the event in the words of the WebSocket; most kinds have none.
func streamBodies(event model.Event) []contract.StreamEventBody {
	switch e := event.(type) {
	case model.TextDelta:
		if e.Text != "" {
			return []contract.StreamEventBody{{Data: &e.Text}}
		}
	case model.ToolStart:
		return []contract.StreamEventBody{{CurrentToolUse: &contract.ToolUseBody{Name: e.Name, ToolUseID: e.ID}}}
	case model.Stop:
		if e.Reason != model.StopToolUse {
			return []contract.StreamEventBody{{Complete: true}}
		}
	}
	return nil
}
