package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// reading is a session's log as it is read from its beginning.
type reading struct {
	*Stage
	id   string
	told map[string]int    // deliveries, and how often they are told of
	last int64             // number of the last message told of
	turn string            // the open turn
	task string            // its task
	open []string          // calls without a result
	tool map[string]string // of each call that was asked for
}

// checkEvents: no gap, every delivery is told of once and in order, every turn ends once and with the right word, every call has a
// result, which names its tool.
func (s *Stage) checkEvents(id string) error {
	events, err := s.Events(context.Background(), id)
	if err != nil {
		return err
	}
	r := reading{Stage: s, id: id, told: map[string]int{}, tool: map[string]string{}}
	for i, e := range events {
		if e.Index != int64(i) {
			return fmt.Errorf("event %d has index %d", i, e.Index)
		}
		if err := r.event(e); err != nil {
			return fmt.Errorf("event %d (%s of %s): %w", i, e.Type, e.TurnID, err)
		}
	}
	if r.turn != "" {
		return fmt.Errorf("%s never ended", r.turn)
	}
	return s.checkReceipts(id, r.told)
}

// eventData is what of an event's data the reading looks at.
type eventData struct {
	ID, Name                   string
	DeliveryID, TaskID, Status string
	DeliveryIDs, IDs           []string
	Calls                      []contract.ActionCall
}

func (r *reading) event(e contract.SessionEvent) error {
	var d eventData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	switch e.Type {
	case "turn.started":
		if r.turn != "" {
			return fmt.Errorf("%s has not ended", r.turn)
		}
		r.turn, r.task = e.TurnID, d.TaskID
	case "message.received":
		return r.tell(e.TurnID, d.DeliveryIDs...)
	case "nudge.delivered":
		return r.tell(e.TurnID, d.DeliveryID)
	case "actions.requested":
		for _, c := range d.Calls {
			r.open, r.tool[c.ID] = append(r.open, c.ID), c.Name
		}
	case "action.result":
		if d.Name != r.tool[d.ID] {
			return fmt.Errorf("call %s of %q has a result of %q", d.ID, r.tool[d.ID], d.Name)
		}
	case "actions.completed":
		if fmt.Sprint(d.IDs) != fmt.Sprint(r.open) {
			return fmt.Errorf("%v completed, %v are open", d.IDs, r.open)
		}
		r.open = nil
	case "turn.completed":
		return r.end(e.TurnID, "completed")
	case "turn.failed":
		return r.end(e.TurnID, d.Status)
	}
	return nil
}

// tell notes messages; those of a notice must have been stopped.
func (r *reading) tell(turnID string, deliveries ...string) error {
	for _, delivery := range deliveries {
		n, stopped, doomed := r.Watch.number(r.id, delivery)
		if r.told[delivery]++; r.told[delivery] > 1 || n <= r.last && !r.Watch.Off {
			return fmt.Errorf("delivery %s, number %d, is told of %d times and after number %d", delivery, n, r.told[delivery], r.last)
		}
		if isNotice(turnID) && !stopped && !strings.HasPrefix(delivery, "task:") {
			return fmt.Errorf("delivery %s is cancelled and nobody stopped it", delivery)
		}
		if !isNotice(turnID) && doomed {
			return fmt.Errorf("delivery %s is answered although it was stopped while it waited", delivery)
		}
		r.last = n
	}
	return nil
}

func isNotice(turnID string) bool { return strings.HasPrefix(turnID, "cancelled_") }

func (r *reading) end(turnID, word string) error {
	if isNotice(turnID) {
		return nil
	}
	if turnID != r.turn {
		return fmt.Errorf("the open turn is %q", r.turn)
	}
	if len(r.open) > 0 && word != "failed" { // a turn that kills its workers ends without its history being read
		return fmt.Errorf("calls %v have no result", r.open)
	}
	r.turn, r.open = "", nil
	return r.Watch.ended(r.id, turnID, r.task, word)
}
