package agency

import (
	"context"
	"sync"
	"time"
)

// A gate lets one owner pass:
//
//	        Admit by anyone                    Admit by its owner: open
//	free ─────────────────────▶ taken ◀─────────────────────────────
//	  ▲                          │ │  Admit by another within the window: shut
//	  └───── Release by its owner┘ └─ Admit by another after the window: theirs

// Entry is a request to pass a gate.
type Entry struct {
	Slot   string
	Owner  string
	Now    time.Time
	Window *time.Duration // since it was last passed; 0: always open; nil: shut for ever, but to its owner

	as   *Passed // if set, the gate opens only as it was read
	mine bool    // its owner has passed it before: it is only checked
}

// Gates keep agents from being woken twice for the same work. Each call decides atomically.
type Gates interface {
	// Admit reports whether the owner may pass, and notes that it did. A refusal writes nothing. Faults: Unavailable.
	Admit(ctx context.Context, e Entry) (bool, error)
	// Release frees a gate if the owner has it. Faults: Unavailable.
	Release(ctx context.Context, slot, owner string) (bool, error)
}

// Passed is who passed a gate last, and when.
type Passed struct {
	Owner string
	At    time.Time
}

// opens reports whether a gate that was passed lets e pass.
func (p Passed) opens(e Entry) bool {
	if p.Owner == e.Owner {
		return true
	}
	return e.Window != nil && (*e.Window == 0 || !p.At.After(e.Now.Add(-*e.Window)))
}

// until is when the gate opens for an entry that it does not let pass; zero: never.
func (p Passed) until(e Entry) time.Time {
	if e.Window == nil {
		return time.Time{}
	}
	return p.At.Add(*e.Window)
}

// lets is opens for a reservation, which may ask that the gate is as it was read.
func (p Passed) lets(e Entry) bool {
	if e.as != nil && p.Owner != e.Owner {
		return p.Owner == e.as.Owner && p.At.Equal(e.as.At)
	}
	return p.opens(e)
}

// MemoryGates are gates for tests and local runs. The zero value is ready, safe for concurrent use, and not to be copied.
type MemoryGates struct {
	mu    sync.Mutex
	gates map[string]Passed
}

// Admit implements Gates.
func (g *MemoryGates) Admit(_ context.Context, e Entry) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if last, taken := g.gates[e.Slot]; taken && !last.opens(e) {
		return false, nil
	}
	if g.gates == nil {
		g.gates = map[string]Passed{}
	}
	g.gates[e.Slot] = Passed{e.Owner, e.Now}
	return true, nil
}

// Release implements Gates.
func (g *MemoryGates) Release(_ context.Context, slot, owner string) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if last, taken := g.gates[slot]; !taken || last.Owner != owner {
		return false, nil
	}
	delete(g.gates, slot)
	return true, nil
}

// All gives every gate that is taken, by slot.
func (g *MemoryGates) All() map[string]Passed {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make(map[string]Passed, len(g.gates))
	for slot, p := range g.gates {
		all[slot] = p
	}
	return all
}

// admitAll passes all gates or none, together with a write. A gate that its owner passed before does not move.
func (g *MemoryGates) admitAll(prefix string, entries []Entry, write func() error) (shut *Entry, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, e := range entries {
		if last, taken := g.gates[slotIn(prefix, e.Slot)]; taken && !last.lets(e) {
			return &entries[i], nil
		}
	}
	if err := write(); err != nil {
		return nil, err
	}
	if g.gates == nil {
		g.gates = map[string]Passed{}
	}
	for _, e := range entries {
		if slot := slotIn(prefix, e.Slot); g.gates[slot].Owner != e.Owner {
			g.gates[slot] = Passed{e.Owner, e.Now}
		}
	}
	return nil, nil
}

func slotIn(prefix, slot string) string {
	if prefix == "" {
		return slot
	}
	return prefix + "#" + slot
}
