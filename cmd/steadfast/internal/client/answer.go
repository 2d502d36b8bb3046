package client

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// Listener is told about a turn as it comes. Nil functions are not called.
type Listener struct {
	Message  func(raw json.RawMessage)    // every message, as it came
	Text     func(piece string)           // the next piece of the answer
	Tool     func(name string)            // the model calls a tool
	Approval func(contract.ApprovalBody)  // a call waits for a person, or something became of that; each is told once
	Again    func(kept string)            // the text after kept was void; the model begins again
	Dropped  func(cause error, err error) // the connection was lost; err nil: it is back
}

// Answer is one turn: as its client saw it, or as its log tells it.
type Answer struct {
	SessionID  string          `json:"session_id"`
	TurnID     string          `json:"turn_id,omitempty"`
	DeliveryID string          `json:"delivery_id,omitempty"`
	Text       string          `json:"text"`
	Tools      []string        `json:"tools"`           // names of the calls, in order
	Calls      []Call          `json:"calls,omitempty"` // the calls themselves; only the log tells them
	Usage      *contract.Usage `json:"usage,omitempty"`
	Error      string          `json:"error,omitempty"`   // of a turn without an answer, from its log
	Message    string          `json:"message,omitempty"` // the same as a sentence
	Hole       bool            `json:"hole,omitempty"`    // text was lost on the way: read the session for it

	length  int64           // of Text in code points, lost ones included
	seen    map[string]bool // ids of tool calls, and of what was told of them
	past    map[string]bool // ids of turns before this one
	refused bool            // the last message was refused, not the turn failed
	fence   int64           // of the turn's owner; an older owner may still be talking
	last    int64           // highest event index; -1: none
	first   int64           // index of the event that opened the turn; -1: not known
}

// Call is a tool call with its result.
type Call struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Input      json.RawMessage `json:"input,omitempty"`
	Status     string          `json:"status,omitempty"` // success or error; none: it has no result
	Output     json.RawMessage `json:"output,omitempty"`
	DurationMs int64           `json:"duration_ms,omitempty"`
}

func newAnswer(sessionID, deliveryID string) *Answer {
	return &Answer{SessionID: sessionID, DeliveryID: deliveryID, Tools: []string{}, seen: map[string]bool{}, past: map[string]bool{}, last: -1, first: -1}
}

// take folds one message in and reports whether it ends the turn. The error is the turn's own.
func (a *Answer) take(m contract.ServerMessage, on Listener) (over bool, err error) {
	if a.foreign(m) {
		return false, nil
	}
	if m.Index != nil {
		a.last = max(a.last, *m.Index)
	}
	switch m.Type {
	case contract.TypeStreamEvent:
		a.event(m, on)
	case contract.TypeComplete:
		a.Usage = m.Usage
		return m.SessionID == "" || m.SessionID == a.SessionID, nil
	case contract.TypeSubscribed:
		return a.settled(m)
	case contract.TypeError:
		a.refused = m.TurnID == "" && m.DeliveryID == ""
		return true, turnError(m)
	case "":
		if m.Message != "" { // the gateway's own: the function behind it failed or took too long
			return true, &Error{Code: "internal", Message: m.Message}
		}
	}
	return false, nil
}

// settled ends the wait for a turn that runs no more and was not told again: somebody else has ended its session.
func (a *Answer) settled(m contract.ServerMessage) (over bool, err error) {
	if m.More || m.Status == "running" || m.Status == "waiting_approval" {
		return false, nil
	}
	return true, &Error{Code: "connection_lost", Message: "the turn ended while the connection was lost; read session " + a.SessionID}
}

// from is the index to subscribe from: the turn's first event, or the last one seen; -1: none is known.
func (a *Answer) from() int64 {
	if a.first >= 0 {
		return a.first
	}
	return a.last
}

// foreign reports whether m belongs to somebody else's turn or to an owner that has lost it.
func (a *Answer) foreign(m contract.ServerMessage) bool {
	if m.DeliveryID != "" && m.DeliveryID != a.DeliveryID || a.past[m.TurnID] {
		return true
	}
	stale := m.TurnID != "" && m.Seq != nil && m.Fence < a.fence // what is told again has no seq
	a.fence = max(a.fence, m.Fence)
	return stale
}

func turnError(m contract.ServerMessage) *Error {
	e := &Error{Code: m.Error, Message: m.Message}
	if e.Code == "" {
		e.Code = "failed"
	}
	if e.Message == "" {
		e.Message = e.Code
	}
	return e
}

func (a *Answer) event(m contract.ServerMessage, on Listener) {
	if m.TurnID != "" && m.TurnID != a.TurnID {
		a.begin(m.TurnID, on)
	}
	switch e := m.Event; {
	case e == nil:
	case e.InitEventLoop && m.Index != nil:
		a.first = *m.Index
	case e.Data != nil:
		a.append(*e.Data, m.Offset, on)
	case e.CurrentToolUse != nil:
		a.tool(*e.CurrentToolUse, on)
	case e.Approval != nil:
		a.approval(*e.Approval, on)
	case e.Reset != nil:
		a.again(m.Offset, on)
	}
}

// begin forgets a turn that ended without our answer, such as one that our message interrupted.
func (a *Answer) begin(turnID string, on Listener) {
	if a.Text != "" && on.Again != nil {
		on.Again("")
	}
	next := newAnswer(a.SessionID, a.DeliveryID)
	next.TurnID, next.past, next.fence, next.last = turnID, a.past, a.fence, a.last
	if a.TurnID != "" {
		next.past[a.TurnID] = true
	}
	*a = *next
}

// append adds what of piece is new. offset nil: all of it.
func (a *Answer) append(piece string, offset *int64, on Listener) {
	if offset != nil {
		if *offset > a.length {
			a.Hole = true
			a.length = *offset
		}
		piece = skip(piece, a.length-*offset)
	}
	if piece == "" {
		return
	}
	a.Text += piece
	a.length += int64(utf8.RuneCountInString(piece))
	if on.Text != nil {
		on.Text(piece)
	}
}

// skip drops the first n code points of s.
func skip(s string, n int64) string {
	for i := range s {
		if n <= 0 {
			return s[i:]
		}
		n--
	}
	return ""
}

func (a *Answer) tool(use contract.ToolUseBody, on Listener) {
	if a.seen[use.ToolUseID] {
		return
	}
	a.seen[use.ToolUseID] = use.ToolUseID != ""
	a.Tools = append(a.Tools, use.Name)
	if on.Tool != nil {
		on.Tool(use.Name)
	}
}

func (a *Answer) approval(b contract.ApprovalBody, on Listener) {
	id := b.Status + " " + b.ActionID
	if a.seen[id] {
		return
	}
	a.seen[id] = true
	if on.Approval != nil {
		on.Approval(b)
	}
}

// again keeps the first offset code points; nil: nothing.
func (a *Answer) again(offset *int64, on Listener) {
	var kept int64
	if offset != nil {
		kept = *offset
	}
	if kept >= a.length {
		return
	}
	rest := skip(a.Text, kept)
	a.Text = a.Text[:len(a.Text)-len(rest)]
	a.length = kept
	if on.Again != nil {
		on.Again(a.Text)
	}
}
