package agency

import (
	"sync"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/task"
)

// outcome is what a run came to.
type outcome struct {
	output string
	used   *task.Usage // nil: the handler told of none
}

// spending adds up what the handler's models used.
type spending struct {
	mu    sync.Mutex
	usage model.Usage
	any   bool
}

// Used counts what a model used, as the Result of a loop.Run says, towards the task: it stands on the task's row and in its completion,
// also if the task fails; with its cost, if the model is a loop.Meter that knows all prices. A task that is run again tells of its last
// run alone, a budget of all. Safe for concurrent use.
func (c *Context[P, N, I]) Used(u model.Usage) {
	c.spent.mu.Lock()
	defer c.spent.mu.Unlock()
	c.spent.usage, c.spent.any = c.spent.usage.Add(u), true
}

func (s *spending) total() *task.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.any {
		return nil
	}
	return new(contract.UsageOf(s.usage))
}
