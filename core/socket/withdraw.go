package socket

import (
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/retell"
)

// Withdraw takes back all that was shown of the turn, which is to end by Fail: a client that asked for resets is told to drop it, from its
// first step on, and who comes late is not told of it. attempt is the number that a repeated attempt would have. Where nothing was shown
// it does nothing.
func (t *Turn) Withdraw(attempt int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Reset()
	if t.over || t.offset == 0 && !t.unsettled {
		return
	}
	t.told = retell.Turn{ID: t.turnID, SessionID: t.told.SessionID, Begun: t.told.Begun}
	t.emit(stream(contract.StreamEventBody{Reset: &contract.ResetBody{Attempt: attempt}}, func(m *contract.ServerMessage) {
		m.Offset = new(int64(0))
	}), func(c *connection) bool { return c.resets() })
	t.offset, t.kept, t.unsettled = 0, 0, false
}
