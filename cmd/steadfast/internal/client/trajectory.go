package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/retell"
)

// maxEventBytes is the longest line of a stream that is read.
const maxEventBytes = 16 << 20

// Trajectories reads a saved stream, a JSON event on each line, and gives its turns in order: calls, reply, usage. The last one may
// still go on.
func Trajectories(stream io.Reader) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		calls := map[string][]Call{}
		for turn, err := range retell.Turns(noting(eventsIn(stream), calls)) {
			if err != nil {
				yield(Answer{}, err)
				return
			}
			if !yield(answerOf(turn, calls[turn.ID]), nil) {
				return
			}
			delete(calls, turn.ID)
		}
	}
}

func eventsIn(stream io.Reader) iter.Seq2[contract.SessionEvent, error] {
	return func(yield func(contract.SessionEvent, error) bool) {
		lines := bufio.NewScanner(stream)
		lines.Buffer(nil, maxEventBytes)
		for n := 1; lines.Scan(); n++ {
			var e contract.SessionEvent
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Type == "" {
				yield(e, &Error{Code: "invalid", Message: fmt.Sprintf("line %d is no event of a session", n)})
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(contract.SessionEvent{}, fmt.Errorf("read events: %w", err))
		}
	}
}

// noting passes events on and notes the calls of each turn.
func noting(events iter.Seq2[contract.SessionEvent, error], calls map[string][]Call) iter.Seq2[contract.SessionEvent, error] {
	return func(yield func(contract.SessionEvent, error) bool) {
		for e, err := range events {
			if err == nil {
				calls[e.TurnID] = note(calls[e.TurnID], e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func note(calls []Call, e contract.SessionEvent) []Call {
	switch e.Type {
	case "actions.requested":
		var d contract.ActionsRequested
		if json.Unmarshal(e.Data, &d) == nil {
			for _, c := range d.Calls {
				calls = append(calls, Call{ID: c.ID, Name: c.Name, Input: c.Input})
			}
		}
	case "action.result":
		var d contract.ActionResult
		if json.Unmarshal(e.Data, &d) != nil {
			return calls
		}
		for i := range calls {
			if calls[i].ID == d.ID {
				calls[i].Status, calls[i].Output, calls[i].DurationMs = d.Status, d.Output, d.DurationMs
			}
		}
	}
	return calls
}

func answerOf(turn *retell.Turn, calls []Call) Answer {
	a := Answer{SessionID: turn.SessionID, TurnID: turn.ID, Tools: []string{}, Calls: calls}
	if ids := turn.Deliveries(); len(ids) > 0 {
		a.DeliveryID = ids[0]
	}
	for _, c := range calls {
		a.Tools = append(a.Tools, c.Name)
	}
	for _, m := range turn.Messages(retell.Wants{}) {
		if m.Event != nil && m.Event.Data != nil {
			a.Text += *m.Event.Data
		}
		if m.Type != contract.TypeStreamEvent {
			a.Usage, a.Error, a.Message = m.Usage, m.Error, m.Message
		}
	}
	return a
}
