package fake

import "sync"

// gate holds every call of a worker back until the test lets it go.
type gate struct {
	mu      sync.Mutex
	pending []*waiting
	arrived chan struct{} // gets a token when a call begins to wait
	open    bool          // all may pass
	broken  error
}

// waiting is a call that stands at the gate.
type waiting struct {
	worker     *worker
	name, note string
	leave      chan struct{}
}

func newGate() *gate { return &gate{arrived: make(chan struct{}, 1)} }

func (g *gate) wait(w *worker, name, note string) {
	g.mu.Lock()
	if g.open {
		g.mu.Unlock()
		return
	}
	one := &waiting{worker: w, name: name, note: note, leave: make(chan struct{})}
	g.pending = append(g.pending, one)
	g.mu.Unlock()
	g.ring()
	<-one.leave
}

// ring wakes the scheduler.
func (g *gate) ring() {
	select {
	case g.arrived <- struct{}{}:
	default:
	}
}

// waits gives the calls that wait, in the order in which they came.
func (g *gate) waits() []*waiting {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]*waiting{}, g.pending...)
}

// let lets one call go.
func (g *gate) let(one *waiting) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, p := range g.pending {
		if p == one {
			g.pending = append(g.pending[:i], g.pending[i+1:]...)
			close(one.leave)
			return
		}
	}
}

// lift lets every call go, now and later.
func (g *gate) lift() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
	for _, p := range g.pending {
		close(p.leave)
	}
	g.pending = nil
}

// fail keeps the first failure of a worker that is no error of its own, such as a panic.
func (g *gate) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken == nil {
		g.broken = err
	}
}

func (g *gate) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.broken
}
