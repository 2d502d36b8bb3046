package agency

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// MemoryStore is a Store for tests and local runs. The zero value is ready, safe for concurrent use, and not to be copied. What it
// owes nobody sweeps: a dispatch that fails is the caller's error.
type MemoryStore struct {
	Now func() time.Time // nil: time.Now

	mu        sync.Mutex
	documents map[StateKey]Document
	gates     MemoryGates
	tasks     map[string]task.Task
	dispatch  map[string]dispatched
	paused    map[string]bool
}

// dispatched is a task in the outbox.
type dispatched struct {
	delivery string
	sent     bool
}

func (s *MemoryStore) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// ReadState implements StateStore.
func (s *MemoryStore) ReadState(_ context.Context, k StateKey) (Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.documents[k], nil
}

// WriteState implements StateStore.
func (s *MemoryStore) WriteState(_ context.Context, k StateKey, d Document) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(DocumentChange{k, d})
}

func (s *MemoryStore) write(changes ...DocumentChange) error {
	for _, c := range changes {
		if there := s.documents[c.Key].Revision; there != c.Document.Revision {
			return fault.New(fault.Conflict, "%s of %s is at revision %d", c.Key.Name, c.Key.AgentID, there)
		}
	}
	if s.documents == nil {
		s.documents = map[StateKey]Document{}
	}
	for _, c := range changes {
		s.documents[c.Key] = Document{c.Document.Value, c.Document.Revision + 1}
	}
	return nil
}

// Admit implements Gates.
func (s *MemoryStore) Admit(ctx context.Context, e Entry) (bool, error) { return s.gates.Admit(ctx, e) }

// Release implements Gates.
func (s *MemoryStore) Release(ctx context.Context, slot, owner string) (bool, error) {
	return s.gates.Release(ctx, slot, owner)
}

// Reserve implements Outbox.
func (s *MemoryStore) Reserve(_ context.Context, r Reservation) (Reserved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, delivery := r.Request.TaskID, r.Request.Delivery("")
	d, there := s.dispatch[id]
	if there && (d.delivery == delivery || r.Documents == nil) {
		return Reserved{Before: d.delivery == delivery, Other: d.delivery != delivery, Owed: !d.sent}, nil
	}
	shut, err := s.gates.admitAll(r.Prefix, r.Gates, func() error { return s.write(r.Documents...) })
	if err != nil || shut != nil {
		return Reserved{Shut: shut}, err
	}
	if s.dispatch == nil {
		s.dispatch = map[string]dispatched{}
	}
	s.dispatch[id] = dispatched{delivery: delivery}
	return Reserved{Owed: true}, nil
}

// Look implements Outbox.
func (s *MemoryStore) Look(_ context.Context, prefix, slot string) (Passed, bool, error) {
	p, ok := s.gates.All()[slotIn(prefix, slot)]
	return p, ok, nil
}

// Owes implements Outbox.
func (s *MemoryStore) Owes(_ context.Context, taskID, delivery string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, there := s.dispatch[taskID]
	return there && d.delivery == delivery && !d.sent, nil
}

// Sent implements Outbox.
func (s *MemoryStore) Sent(_ context.Context, taskID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, there := s.dispatch[taskID]; there {
		d.sent = true
		s.dispatch[taskID] = d
	}
	return nil
}

// Sweeps implements Outbox.
func (s *MemoryStore) Sweeps() bool { return false }

// Paused implements Store.
func (s *MemoryStore) Paused(_ context.Context, agentType string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused[agentType], nil
}

// Pause pauses an agent type or lets it go on.
func (s *MemoryStore) Pause(agentType string, paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused == nil {
		s.paused = map[string]bool{}
	}
	s.paused[agentType] = paused
}

// Documents gives a copy of every document.
func (s *MemoryStore) Documents() map[StateKey]Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.documents)
}

// Gates gives a copy of every gate that is taken, by slot.
func (s *MemoryStore) Gates() map[string]Passed { return s.gates.All() }
