package bedrock

import "sync"

// maxAttempts bounds how many requests are remembered.
const maxAttempts = 1000

// Attempts remembers requests that have been failed once, so that the next attempt of the same request goes well. The
// zero value is ready; it is safe for concurrent use.
type Attempts struct {
	mu   sync.Mutex
	seen map[string]bool
}

// first reports whether id is new, and remembers it. A nil Attempts knows nothing: all is new.
func (a *Attempts) first(id string) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen[id] {
		return false
	}
	if a.seen == nil || len(a.seen) >= maxAttempts {
		a.seen = map[string]bool{}
	}
	a.seen[id] = true
	return true
}
