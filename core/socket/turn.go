package socket

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/retell"
)

// Turn posts one turn, or one owner's part of it. Its methods are safe for concurrent use, return at once (Close apart) and
// are ignored after Complete, Fail or Close, except Close itself. The caller must Close it.
type Turn struct {
	caster     *Caster
	sessionID  string
	turnID     string
	fence      int64
	background context.Context // of the posts: they outlive the caller's own context until Close
	stop       context.CancelFunc
	writers    sync.WaitGroup

	mu          sync.Mutex
	connections []*connection
	told        retell.Turn     // what was said so far, for those who come late
	seq         int64           // of the next frame
	started     bool            // init_event_loop is not needed any more
	over        bool            // no more frames
	text        strings.Builder // gathered and not yet in a frame
	index       *int64          // of the last event in text
	offset      int64           // code points in frames so far
	kept        int64           // offset at which the running step began
	unsettled   bool            // frames of the running attempt went out
	gathering   *time.Timer     // not nil: text waits for it
}

// Turn begins the posts of one turn of a session by one owner, who holds fence. Without subscribers it does nothing.
func (c *Caster) Turn(subscribers []Subscriber, sessionID, turnID string, fence int64) *Turn {
	ctx, stop := context.WithCancel(context.Background())
	t := &Turn{caster: c, sessionID: sessionID, turnID: turnID, fence: fence, background: ctx, stop: stop, told: retell.Turn{ID: turnID}}
	for _, s := range subscribers {
		t.Add(s)
	}
	return t
}

// Add makes a connection follow the turn; once it has begun it is told again what was said before. One that was added before, even
// one that got an error since, is left as it is unless it has Asked since.
func (t *Turn) Add(s Subscriber) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.find(s.ConnectionID)
	if c != nil && s.Asked <= c.Asked {
		return
	}
	t.flush() // to those who follow already: what is told again includes it
	if c == nil {
		c = &connection{}
		t.connections = append(t.connections, c)
	}
	c.Subscriber, c.ended = s, false
	t.restate(c)
}

// Start says that the turn began, with the event of that index. Only the first call does something.
func (t *Turn) Start(index *int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.started {
		return
	}
	t.started = true
	t.told.Begun = index
	t.emit(stream(contract.StreamEventBody{InitEventLoop: true}, func(m *contract.ServerMessage) { m.Index = index }), everyone)
}

// Resume goes on with a turn that another owner began; told is what its log says. Start is not said again. Connections that have
// Asked are told all of it, the others have seen it. The other owner may have shown more, so a Reset that follows counts as one
// after shown text.
func (t *Turn) Resume(told retell.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.started, t.unsettled = true, true
	t.told, t.told.ID = told, t.turnID
	t.offset, t.kept = told.Length(), told.Kept()
	for _, c := range t.connections {
		c.shown = true
		if c.Asked > 0 {
			t.restate(c)
		}
	}
}

// Step says that a model call begins: what was shown so far stays, and a Reset drops only what follows.
func (t *Turn) Step() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flush()
	t.told.Step()
	t.kept, t.unsettled = t.offset, false
	for _, c := range t.connections {
		c.shown = false
	}
}

// Text adds a piece of the answer. index is that of the durable event which holds it, nil if not known. The first piece is
// posted at once, those that follow within GatherTime are joined.
func (t *Turn) Text(delta string, index *int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || delta == "" {
		return
	}
	t.text.WriteString(delta)
	t.index = index
	if t.gathering == nil || t.text.Len() >= GatherBytes {
		t.flush()
	}
}

// ToolUse says that the model calls a tool.
func (t *Turn) ToolUse(name, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.flush()
	t.unsettled = true
	use := contract.ToolUseBody{Name: name, ToolUseID: id}
	t.told.Tool(use, nil)
	t.emit(stream(contract.StreamEventBody{CurrentToolUse: &use}), everyone)
}

// Approval says that a call waits for a person, or what became of it, to those who asked to be told. index is that of the event which
// says so. It has no seq: to others nothing is missing.
func (t *Turn) Approval(a contract.ApprovalBody, index *int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.flush()
	t.told.Approval(a, index)
	f, ok := t.frame(stream(contract.StreamEventBody{Approval: &a}, func(m *contract.ServerMessage) { m.Index = index }), nil)
	if !ok {
		return
	}
	for _, c := range t.connections {
		if c.approvals() {
			t.push(c, f)
		}
	}
}

// Reset says that the attempt failed and attempt (from 2) begins: text since Step is void. Gathered text is forgotten. A client
// that asked for resets is told to drop the rest; another one that has seen text of the failed attempt gets an error and no more of
// this turn.
func (t *Turn) Reset(attempt int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Reset()
	if t.over || !t.unsettled {
		return
	}
	kept := t.kept
	t.told.Void()
	t.emit(stream(contract.StreamEventBody{Reset: &contract.ResetBody{Attempt: attempt}}, func(m *contract.ServerMessage) {
		m.Offset = &kept
	}), func(c *connection) bool { return c.resets() })
	for _, c := range t.connections {
		if c.shown && !c.resets() {
			t.end(c, t.seq-1, brokeOff)
		}
		c.shown = false
	}
	t.offset, t.unsettled = kept, false
}

// Complete ends the turn with success: the end of the stream, then complete with the session. index is that of the event that
// ended the turn, usage what it used. deliveryIDs are the sends that the turn answered: an old client gets one complete, others one
// for each.
func (t *Turn) Complete(index *int64, usage *contract.Usage, deliveryIDs ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.flush()
	t.emit(stream(contract.StreamEventBody{Complete: true}), everyone)
	t.last(contract.ServerMessage{Type: contract.TypeComplete, SessionID: t.sessionID, Index: index, Usage: usage}, deliveryIDs)
}

// Fail ends the turn with an error: err is a short word for programs, message a sentence for people, which is cut when it is too
// long for a frame.
func (t *Turn) Fail(err, message string, deliveryIDs ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.flush()
	t.last(contract.ServerMessage{Type: contract.TypeError, Error: err, Message: message}, deliveryIDs)
}

// last emits m once for each delivery, the first to everyone, and ends the turn.
func (t *Turn) last(m contract.ServerMessage, deliveryIDs []string) {
	for i, id := range append(deliveryIDs, "") {
		if i > 0 && id == "" {
			break
		}
		m.DeliveryID = id
		t.emit(m, func(c *connection) bool { return i == 0 || c.resets() })
	}
	t.over = true
	t.stopGathering()
}

// Flush puts gathered text on its way.
func (t *Turn) Flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flush()
}

// Close flushes, waits up to CloseTime for what is queued and gives up what is left. It may be called twice.
func (t *Turn) Close() {
	t.mu.Lock()
	t.flush()
	t.over = true
	t.stopGathering()
	t.mu.Unlock()
	done := make(chan struct{})
	go func() {
		t.writers.Wait()
		close(done)
	}()
	timeout := time.NewTimer(CloseTime)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
		t.caster.log().Warn("gave up posts", "session", t.sessionID, "turn", t.turnID, "fence", t.fence)
	}
	t.stop()
}

// flush makes frames of the gathered text and starts to gather again. t.mu is held.
func (t *Turn) flush() {
	if t.over || t.text.Len() == 0 {
		return
	}
	text := t.text.String()
	t.text.Reset()
	whole := stream(contract.StreamEventBody{Data: &text}, func(m *contract.ServerMessage) {
		m.TurnID, m.Offset, m.Index = t.turnID, new(t.offset), t.index
	})
	for _, piece := range split(whole) {
		t.emit(piece, func(c *connection) bool { c.shown = c.shown || !c.ended; return true })
	}
	t.told.Text(text, t.index)
	t.offset += int64(utf8.RuneCountInString(text))
	t.unsettled = true
	if t.gathering == nil {
		t.gathering = time.AfterFunc(GatherTime, t.gathered)
	}
}

func (t *Turn) gathered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gathering = nil
	t.flush()
}

func (t *Turn) stopGathering() {
	if t.gathering != nil {
		t.gathering.Stop()
		t.gathering = nil
	}
}
