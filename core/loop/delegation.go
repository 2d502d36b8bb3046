package loop

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// delegating finds the delegation of a tool's call.
type delegating struct{}

// delegation is a call whose tool may run other agents. It tells of them until the call has ended: a tool that took too long and was left
// behind must not speak afterwards, when the run goes on without it. It is safe for concurrent use.
type delegation struct {
	run  *run
	call model.ToolUse

	mu   sync.Mutex
	over bool
	open []begunSubagent // the outermost first
}

type begunSubagent struct {
	SubagentStarted
	at time.Time
}

// with is ctx for the call.
func (d *delegation) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, delegating{}, d)
}

// emit tells of something that happens in the call.
func (d *delegation) emit(e Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return
	}
	switch e := e.(type) {
	case SubagentStarted:
		d.open = append(d.open, begunSubagent{e, time.Now()})
	case SubagentEnded:
		d.open = slices.DeleteFunc(d.open, func(s begunSubagent) bool { return s.ID == e.ID && s.Name == e.Name })
	}
	d.run.watcher.emit(e)
}

// end tells that the agents which the call has left behind have ended for it, the innermost first, and nothing more.
func (d *delegation) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for _, s := range slices.Backward(d.open) {
		err := fault.New(fault.Unavailable, "the agent did not finish within its call")
		d.run.watcher.emit(SubagentEnded{ID: s.ID, Name: s.Name, Depth: s.Depth, Took: time.Since(s.at), Err: err})
	}
}
