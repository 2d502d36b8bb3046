package cloud

import (
	"sync"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
)

// Most that a recent keeps.
const (
	recentEvents = 1000
	recentBytes  = 8 << 20 // of details
)

// recent keeps the newest events, for a developer to look at. The zero value is ready; it is safe for concurrent use.
type recent struct {
	mu     sync.Mutex
	events []bus.Event // oldest first
	bytes  int
}

func (r *recent) add(e bus.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events, r.bytes = append(r.events, e), r.bytes+len(e.Detail)
	for len(r.events) > recentEvents || r.bytes > recentBytes && len(r.events) > 1 {
		r.bytes -= len(r.events[0].Detail)
		r.events = r.events[1:]
	}
}

// list gives the events of one detail type, or all, oldest first. It is never nil.
func (r *recent) list(detailType string) []bus.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []bus.Event{}
	for _, e := range r.events {
		if detailType == "" || e.DetailType == detailType {
			out = append(out, e)
		}
	}
	return out
}
