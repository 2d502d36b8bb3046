package retell

import (
	"encoding/json"
	"iter"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// entry is what matters of an event's data, whatever its type.
type entry struct {
	Text        string
	Delta       string
	Attempt     int
	DeliveryIDs []string
	DeliveryID  string
	Calls       []contract.ActionCall
	Status      string
	Error       string
	Usage       *contract.Usage
}

// Event takes the next event of the turn's log. Types that show nothing are passed over, and so is data that cannot be read.
func (t *Turn) Event(e contract.SessionEvent) {
	var d entry
	if json.Unmarshal(e.Data, &d) != nil {
		return
	}
	t.ID, t.SessionID = e.TurnID, e.SessionID
	if t.Begun == nil {
		t.Begun = new(e.Index)
	}
	switch e.Type {
	case "message.received":
		t.deliveries = append(t.deliveries, d.DeliveryIDs...)
	case "nudge.delivered":
		if d.DeliveryID != "" {
			t.deliveries = append(t.deliveries, d.DeliveryID)
		}
	case "step.started":
		t.begin()
	case "message.appended":
		t.appended(d, e.Index)
	case "message.completed":
		t.completed(d.Text, e.Index)
	case "actions.requested":
		t.replied()
		for _, c := range d.Calls {
			t.Tool(contract.ToolUseBody{Name: c.Name, ToolUseID: c.ID}, new(e.Index))
		}
	case contract.ApprovalRequested{}.EventType():
		t.asked(e)
	case contract.ApprovalResolved{}.EventType():
		t.resolved(e)
	case "step.completed":
		t.replied()
	case "turn.completed":
		t.end = &contract.ServerMessage{Type: contract.TypeComplete, SessionID: e.SessionID, TurnID: e.TurnID, Index: new(e.Index), Usage: d.Usage}
	case "turn.failed":
		t.end = &contract.ServerMessage{Type: contract.TypeError, Error: d.Status, Message: d.Error, TurnID: e.TurnID, Index: new(e.Index)}
	}
}

// asked and resolved read what the log says of a call that waits for a person.
func (t *Turn) asked(e contract.SessionEvent) {
	var d contract.ApprovalRequested
	if json.Unmarshal(e.Data, &d) == nil {
		t.Approval(d.Body(), new(e.Index))
	}
}

func (t *Turn) resolved(e contract.SessionEvent) {
	var d contract.ApprovalResolved
	if json.Unmarshal(e.Data, &d) == nil {
		t.Approval(d.Body(), new(e.Index))
	}
}

// begin opens a step. One that is open already was its owner's before, who did not see its reply: it is done again.
func (t *Turn) begin() {
	if t.working && t.length > t.kept {
		t.Void()
	}
	t.Step()
	t.working, t.attempt = true, 1
}

func (t *Turn) appended(d entry, index int64) {
	if attempt := max(d.Attempt, 1); attempt > t.attempt {
		if t.length > t.kept {
			t.Void()
		}
		t.attempt = attempt
	}
	t.Text(d.Delta, new(index))
}

// completed is the whole text of the step's reply: it is right where the pieces are not.
func (t *Turn) completed(text string, index int64) {
	if t.since() != text {
		if t.length > t.kept {
			t.Void()
		}
		t.Text(text, new(index))
	}
	t.settle()
}

// replied closes a step whose reply is known. Text that no reply confirmed was that of a call that broke off.
func (t *Turn) replied() {
	if t.working && t.length > t.kept {
		t.Void()
	}
	t.settle()
}

func (t *Turn) settle() {
	t.Step()
	t.working = false
}

// since is the text of the running step.
func (t *Turn) since() string {
	var text []byte
	for _, p := range t.parts[t.base:] {
		text = append(text, p.text...)
	}
	return string(text)
}

// Turns puts the turns of a log together and gives each one when it has ended, and at last the one that goes on, if one does. The
// first event should open a turn: of one that began before, only the rest is told.
func Turns(events iter.Seq2[contract.SessionEvent, error]) iter.Seq2[*Turn, error] {
	return func(yield func(*Turn, error) bool) {
		t, over := &Turn{}, ""
		for e, err := range events {
			if err != nil {
				yield(nil, err)
				return
			}
			if e.TurnID == "" || e.TurnID == over {
				continue
			}
			if t.ID != e.TurnID {
				t = &Turn{}
			}
			if t.Event(e); t.Ended() {
				if !yield(t, nil) {
					return
				}
				t, over = &Turn{}, e.TurnID
			}
		}
		if t.ID != "" {
			yield(t, nil)
		}
	}
}
