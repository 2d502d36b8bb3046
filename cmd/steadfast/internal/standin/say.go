package standin

import (
	"sync"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// Turn writes the messages of one turn as a stack does. It is safe for concurrent use.
type Turn struct {
	ID      string
	Fence   int64
	Session string

	mu     sync.Mutex
	seq    int64
	offset int64
}

// Begin is the first message.
func (t *Turn) Begin() contract.ServerMessage {
	return t.stream(contract.StreamEventBody{InitEventLoop: true}, nil)
}

// Text is a piece of the answer, in a durable event with the index; under 0: none.
func (t *Turn) Text(piece string, index int64) contract.ServerMessage {
	offset := t.move(int64(len([]rune(piece))))
	m := t.stream(contract.StreamEventBody{Data: &piece}, &offset)
	if index >= 0 {
		m.Index = &index
	}
	return m
}

// Tool is a tool call.
func (t *Turn) Tool(name, id string) contract.ServerMessage {
	return t.stream(contract.StreamEventBody{CurrentToolUse: &contract.ToolUseBody{Name: name, ToolUseID: id}}, nil)
}

// Approval tells of a call that waits for a person, or what became of it. It has no seq.
func (t *Turn) Approval(name, id, status, reason string) contract.ServerMessage {
	body := contract.ApprovalBody{ActionID: id, Name: name, Status: status, Reason: reason}
	return contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &contract.StreamEventBody{Approval: &body}, TurnID: t.ID, Fence: t.Fence}
}

// Reset drops the text behind the first kept code points.
func (t *Turn) Reset(kept int64) contract.ServerMessage {
	t.mu.Lock()
	t.offset = kept
	t.mu.Unlock()
	return t.stream(contract.StreamEventBody{Reset: &contract.ResetBody{Attempt: 2}}, &kept)
}

// End is what follows the last piece, for the delivery.
func (t *Turn) End(delivery string) []contract.ServerMessage {
	end := t.stream(contract.StreamEventBody{Complete: true}, nil)
	return []contract.ServerMessage{end, t.number(contract.ServerMessage{Type: contract.TypeComplete, SessionID: t.Session, DeliveryID: delivery})}
}

// Fail is the end of a turn without an answer.
func (t *Turn) Fail(word, message, delivery string) contract.ServerMessage {
	return t.number(contract.ServerMessage{Type: contract.TypeError, Error: word, Message: message, DeliveryID: delivery})
}

func (t *Turn) stream(body contract.StreamEventBody, offset *int64) contract.ServerMessage {
	return t.number(contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &body, Offset: offset})
}

// move gives the offset and moves it on.
func (t *Turn) move(by int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.offset
	t.offset += by
	return before
}

func (t *Turn) number(m contract.ServerMessage) contract.ServerMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	seq := t.seq
	t.seq++
	m.TurnID, m.Fence, m.Seq = t.ID, t.Fence, &seq
	return m
}
