package fake

import (
	"sync"
	"time"
)

// Start is the time of a Clock that nobody set: the first instant of 2026, UTC.
func Start() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// Clock is time in the hands of a test. The zero value stands still at Start.
type Clock struct {
	// Follow makes the clock also move with package time from its first use on, which is what a test inside of a
	// testing/synctest bubble wants: sleeping workers and the clock then agree.
	Follow bool

	mu    sync.Mutex
	moved time.Duration
	began time.Time // of package time, for Follow
}

// Now gives the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time {
	if !c.Follow {
		return Start().Add(c.moved)
	}
	if c.began.IsZero() {
		c.began = time.Now()
	}
	return Start().Add(c.moved + time.Since(c.began))
}

// Advance moves the clock forward by d and gives the new time. A negative d moves it back, as a bad clock does.
func (c *Clock) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved += d
	return c.now()
}

// Set moves the clock to t.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved += t.Sub(c.now())
}
