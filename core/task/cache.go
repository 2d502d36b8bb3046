package task

import "sync"

// defaultCached is how many results a ResultCache keeps when nothing is said, maxCachedOutput the longest output it keeps, in bytes.
const (
	defaultCached   = 1000
	maxCachedOutput = 64 * 1024
)

// ResultCache remembers in a warm process how tasks ended, so that a duplicate delivery is answered without a read. It knows only
// what is final and told; not to find a result says nothing about the task. The zero value is ready and a nil one remembers
// nothing; it is safe for concurrent use and must not be copied.
type ResultCache struct {
	Max int // results kept, the newest; default 1000. Outputs over 64 KB are never kept

	mu    sync.Mutex
	byID  map[string]Task
	order []string // oldest first
}

// Get gives the result that a delivery of the task would be answered with. A failed task is answered only to the deliveries that
// failed: a new one may run it again.
func (c *ResultCache) Get(taskID, delivery string) (r Result, ok bool) {
	if c == nil {
		return Result{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.byID[taskID]
	if !ok || t.Status == Failed && !t.Cancelled && !t.FailedFor(delivery) {
		return Result{}, false
	}
	return t.Result(), true
}

// Put remembers a task that is final and whose end is told. Any other is forgotten instead.
func (c *ResultCache) Put(t Task) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(t.TaskID)
	if !t.Final() || t.CompletionOwed != 0 || len(t.Output) > maxCachedOutput {
		return
	}
	if c.byID == nil {
		c.byID = map[string]Task{}
	}
	limit := c.Max
	if limit <= 0 {
		limit = defaultCached
	}
	c.byID[t.TaskID] = Task{TaskID: t.TaskID, Status: t.Status, Output: t.Output, Error: t.Error, Usage: t.Usage, Cancelled: t.Cancelled, FailedBy: t.FailedBy}
	c.order = append(c.order, t.TaskID)
	for len(c.order) > limit {
		c.drop(c.order[0])
	}
}

func (c *ResultCache) drop(taskID string) {
	if _, ok := c.byID[taskID]; !ok {
		return
	}
	delete(c.byID, taskID)
	for i, id := range c.order {
		if id == taskID {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			return
		}
	}
}
