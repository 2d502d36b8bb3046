// Package transcript keeps what the processes and goroutines of a test print, so that a test can look at it while they run. It
// keeps all of it: it is for tests only.
package transcript

import (
	"bytes"
	"sync"
)

// Transcript is an io.Writer. The zero value is ready; it is safe for concurrent use.
type Transcript struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write never fails.
func (t *Transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

// String is all that was written so far.
func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
