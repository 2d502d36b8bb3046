// Package retell tells a turn again to somebody who has missed a part of it, in the messages of the wire. A turn is remembered as
// it goes, or put together from the events of its log; text of a call that broke off is forgotten as it is for those who watched.
//
// It is pure: it reads nothing, sends nothing, and knows neither connections nor the size of a frame.
package retell

import (
	"slices"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// Turn is what one turn has shown so far. The zero value has shown nothing. It is not safe for concurrent use.
type Turn struct {
	ID        string
	SessionID string // as its log says
	Begun     *int64 // index of the event that opened it; nil: not known

	parts  []part
	length int64 // code points shown
	kept   int64 // of them, those of finished steps
	base   int   // parts of finished steps
	parted bool  // what comes next begins a part
	voids  int   // calls whose text was taken back
	sure   int64 // with voids: code points that never were taken back

	deliveries []string
	working    bool // the log is in a step whose reply has not come
	attempt    int
	end        *contract.ServerMessage
}

// part is a run of text, or what happened between two: a tool call, or a word about one that waits for a person.
type part struct {
	at       int64 // code points before it
	text     []byte
	tool     *contract.ToolUseBody
	approval *contract.ApprovalBody
	index    *int64 // of the last event in it; nil: not known
}

// said reports whether it is text.
func (p part) said() bool { return p.tool == nil && p.approval == nil }

// Wants is what a client understands beside the messages that every client does.
type Wants struct {
	Resets    bool // texts that are taken back
	Approvals bool // calls that wait for a person
}

// WantsOf reads the features that a client connected with.
func WantsOf(features []string) Wants {
	return Wants{Resets: slices.Contains(features, contract.FeatureReset), Approvals: slices.Contains(features, contract.FeatureApprovals)}
}

// Length is how many code points stand, and Kept how many of them a call that breaks off would leave.
func (t *Turn) Length() int64 { return t.length }

// Kept is how many code points the finished steps have shown.
func (t *Turn) Kept() int64 { return t.kept }

// Deliveries are the sends that the turn answers, as far as its log was read.
func (t *Turn) Deliveries() []string { return slices.Clone(t.deliveries) }

// Ended reports whether the log told the turn's end.
func (t *Turn) Ended() bool { return t.end != nil }

// Step says that a model call begins: what was shown so far stays.
func (t *Turn) Step() { t.kept, t.base, t.parted = t.length, len(t.parts), true }

// Text adds a piece of the answer. index is that of the event that holds it, nil if it is not known.
func (t *Turn) Text(piece string, index *int64) {
	if piece == "" {
		return
	}
	if last := len(t.parts) - 1; last < 0 || t.parted || !t.parts[last].said() {
		t.parts = append(t.parts, part{at: t.length})
	}
	p := &t.parts[len(t.parts)-1]
	p.text = append(p.text, piece...)
	if index != nil {
		p.index = index
	}
	t.length += int64(utf8.RuneCountInString(piece))
	t.parted = false
}

// Tool adds a tool call. One that was added already is left out.
func (t *Turn) Tool(use contract.ToolUseBody, index *int64) {
	known := func(p part) bool { return p.tool != nil && use.ToolUseID != "" && p.tool.ToolUseID == use.ToolUseID }
	if slices.ContainsFunc(t.parts, known) {
		return
	}
	t.parts = append(t.parts, part{at: t.length, tool: &use, index: index})
}

// Approval adds that a call waits for a person, or what became of it. What was added already is left out.
func (t *Turn) Approval(a contract.ApprovalBody, index *int64) {
	known := func(p part) bool {
		return p.approval != nil && p.approval.ActionID == a.ActionID && p.approval.Status == a.Status
	}
	if slices.ContainsFunc(t.parts, known) {
		return
	}
	t.parts = append(t.parts, part{at: t.length, approval: &a, index: index})
}

// Void takes back what the running call has shown. Whoever saw it has to be told, however often the turn is told again.
func (t *Turn) Void() {
	if t.voids == 0 || t.kept < t.sure {
		t.sure = t.kept
	}
	t.voids++
	t.parts, t.length, t.parted = t.parts[:t.base], t.kept, true
}

// Messages tells the turn from its beginning to where it stands: its text in whole runs, however long, with the offset of each.
// To a client that understands resets a text that may be wrong is taken back where the right one goes on; to another one the end
// is told for one delivery only. Nothing has a seq: what is told again is known by its offset, tool call or turn.
func (t *Turn) Messages(wants Wants) []contract.ServerMessage {
	out := []contract.ServerMessage{t.stream(contract.StreamEventBody{InitEventLoop: true}, nil, t.Begun)}
	warn := wants.Resets && t.voids > 0
	for _, p := range t.parts {
		if p.approval != nil && !wants.Approvals {
			continue
		}
		if warn && (p.at > t.sure || p.at == t.sure && p.said()) {
			out, warn = append(out, t.reset()), false
		}
		body := contract.StreamEventBody{CurrentToolUse: p.tool, Approval: p.approval}
		var offset *int64
		if p.said() {
			body.Data, offset = new(string(p.text)), &p.at
		}
		out = append(out, t.stream(body, offset, p.index))
	}
	if warn {
		out = append(out, t.reset())
	}
	return append(out, t.ending(wants.Resets)...)
}

func (t *Turn) stream(body contract.StreamEventBody, offset, index *int64) contract.ServerMessage {
	return contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &body, TurnID: t.ID, Offset: offset, Index: index}
}

func (t *Turn) reset() contract.ServerMessage {
	return t.stream(contract.StreamEventBody{Reset: &contract.ResetBody{Attempt: t.voids + 1}}, new(t.sure), nil)
}

// ending is how the end was told to those who watched.
func (t *Turn) ending(resets bool) []contract.ServerMessage {
	if t.end == nil {
		return nil
	}
	var out []contract.ServerMessage
	if t.end.Type == contract.TypeComplete {
		out = append(out, t.stream(contract.StreamEventBody{Complete: true}, nil, nil))
	}
	ids := t.deliveries
	switch {
	case len(ids) == 0:
		ids = []string{""}
	case !resets:
		ids = ids[:1]
	}
	for _, id := range ids {
		m := *t.end
		m.DeliveryID = id
		out = append(out, m)
	}
	return out
}
