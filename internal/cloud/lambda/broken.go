package lambda

import (
	"maps"
	"slices"
	"time"
)

// failed is a function that did not build, with the sources that did not.
type failed struct {
	err     error
	sources string
	at      time.Time
}

// failureCounts is how long a build that failed is not tried again on the same sources. What is not the sources' fault passes.
const failureCounts = 10 * time.Second

// building are the functions that a compiler works on.
func (b *builder) building() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.flights))
}

// broken are the functions that the sources as they are now do not build, with the compiler's words. Of sources that have changed since
// nobody knows it yet.
func (b *builder) broken() map[string]error {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]error{}
	if len(b.failed) == 0 {
		return out
	}
	_ = b.refresh() // else the sources that were read last count
	for function, f := range b.failed {
		if f.sources == b.sources {
			out[function] = f.err
		}
	}
	return out
}
