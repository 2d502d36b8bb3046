package turn

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// Memory keeps the histories of the last sessions of a warm worker. An entry counts only while its tip is the session's. It is
// safe for concurrent use; the zero value is ready.
type Memory struct {
	mu    sync.Mutex
	byID  map[string]snapshot.History
	order []string // oldest first
	bytes int
}

// What a Memory holds at most.
const (
	maxRemembered      = 64
	maxRememberedBytes = 16 << 20
)

func (m *Memory) get(id, tip string) (snapshot.History, bool) {
	if m == nil {
		return snapshot.History{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.byID[id]
	return h, ok && h.Tip == tip
}

func (m *Memory) put(id string, h snapshot.History) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(id)
	if m.byID == nil {
		m.byID = map[string]snapshot.History{}
	}
	m.byID[id], m.order, m.bytes = h, append(m.order, id), m.bytes+h.Bytes
	for len(m.order) > maxRemembered || m.bytes > maxRememberedBytes && len(m.order) > 1 {
		m.drop(m.order[0])
	}
}

func (m *Memory) forget(id string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(id)
}

func (m *Memory) drop(id string) {
	h, ok := m.byID[id]
	if !ok {
		return
	}
	delete(m.byID, id)
	m.bytes -= h.Bytes
	for i, other := range m.order {
		if other == id {
			m.order = append(m.order[:i:i], m.order[i+1:]...)
			return
		}
	}
}

// load gives the history at the state's tip.
func (o *owner) load(ctx context.Context) (snapshot.History, error) {
	if o.history != nil && o.history.Tip == o.state.Tip {
		return *o.history, nil
	}
	h, ok := o.Remembered.get(o.id, o.state.Tip)
	if !ok {
		var err error
		if h, err = o.Table.History(ctx, o.id, o.state.Tip); err != nil {
			return h, err
		}
		o.restored = true
	}
	o.history = &h
	return h, nil
}

// remember appends a segment that was just written to the history at hand, if it is at hand.
func (o *owner) remember(s *snapshot.Segment) {
	if s == nil {
		return
	}
	base := snapshot.History{}
	if !s.Full && s.Base != "" {
		if o.history != nil && o.history.Tip == s.Base {
			base = *o.history
		} else if remembered, ok := o.Remembered.get(o.id, s.Base); ok {
			base = remembered
		}
	}
	h, err := base.Append(*s)
	if err != nil {
		o.history = nil // it is read when it is needed
		return
	}
	o.history = &h
	o.Remembered.put(o.id, h)
}

// segment makes the next piece of history.
func (o *owner) segment(messages ...model.Message) *snapshot.Segment {
	return &snapshot.Segment{
		ID: snapshot.NextID(o.Now(), o.state.Tip, [16]byte(uuid.New())), Base: o.state.Tip, Messages: messages,
	}
}

// openingSegment is the prompt's, after an error result for each call that the turn before left open: from then on the history
// is whole. Where somebody else wrote the conversation last, the TypeScript package or a program that ran the session itself, it is
// a whole history: theirs, and the prompt.
func (o *owner) openingSegment(ctx context.Context, open opening) (*snapshot.Segment, error) {
	content, err := o.said(ctx, open.prompt, open.task)
	if err != nil {
		return nil, err
	}
	said := model.Message{Role: model.User, Content: content}
	if o.state.Tip == "" {
		h, err := o.Table.Written(ctx, o.id)
		if err != nil {
			return nil, err
		}
		if h.Tip == "" {
			return o.segment(said), nil
		}
		return o.takenOver(h.Messages, h.State, said), nil
	}
	if !o.Strands {
		return o.afterOpenCalls(ctx, said)
	}
	h, tip, err := o.Table.PackageSnapshot(ctx, o.id)
	if fault.Is(err, fault.NotFound) || err == nil && tip != "" {
		return o.afterOpenCalls(ctx, said)
	}
	if err != nil {
		return nil, err
	}
	return o.takenOver(h.Messages, h.State, said), nil
}

// takenOver is the segment that makes a history of somebody else's ours.
func (o *owner) takenOver(before []model.Message, state json.RawMessage, said model.Message) *snapshot.Segment {
	s := o.segment()
	before, _ = snapshot.Repair(before)
	s.Full, s.Base, s.Messages, s.State = true, "", append(before, said), state
	return s
}

// afterOpenCalls is the segment of a message that follows what there is. A history that cannot be read is no reason not to begin:
// the turn will say so.
func (o *owner) afterOpenCalls(ctx context.Context, said model.Message) (*snapshot.Segment, error) {
	if o.state.Tip == "" || o.state.Tries > session.MaxTries {
		return o.segment(said), nil
	}
	h, err := o.load(ctx)
	if fault.Retryable(err) {
		return nil, err
	}
	if err != nil {
		o.log.ErrorContext(ctx, "the history cannot be read", "error", err)
	}
	open, _ := answers(h.Messages, nil)
	said.Content = append(open, said.Content...)
	if whole, ok := o.rewritten(h, said); ok {
		s := o.segment(whole...)
		s.Full, s.Base, s.State = true, "", h.State
		return s, nil
	}
	return o.segment(said), nil
}

// maxSegments is how many segments a history is read from at most, give or take a turn's.
const maxSegments = 200

// rewritten gives the whole history with what is said now, if it is better written as one segment: it was read and found damaged, so
// that the next reader finds it repaired; it takes many reads; or its oldest rows are halfway to their end.
func (o *owner) rewritten(h snapshot.History, said model.Message) ([]model.Message, bool) {
	first, known := snapshot.Time(h.First)
	long := h.Segments >= maxSegments || known && o.Now().Sub(first) > session.RowLife/2
	if !long && !o.restored {
		return nil, false
	}
	whole, changed := snapshot.Repair(append(h.Messages[:len(h.Messages):len(h.Messages)], said))
	return whole, long || changed
}
