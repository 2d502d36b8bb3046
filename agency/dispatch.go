package agency

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// ScheduleEvent is the detail type by which a delayed event is handed to whoever schedules events.
const ScheduleEvent = "Schedule Event"

// BusDispatcher sends tasks as "Run Agent Task" under the bus's source; delayed ones as "Schedule Event", named by the task, so that
// sending one again neither moves nor doubles it. It is a plain value, safe for concurrent use.
type BusDispatcher struct {
	Bus bus.Bus
	// Later, if set, takes delayed tasks instead: it sends the request at its NotBefore, once per task id. A scheduler that knows the
	// name already keeps what it has.
	Later func(ctx context.Context, r task.Request) error
	// Soon is up to which delay a task is sent at once: who runs it waits for its time. 0: none is.
	Soon time.Duration
}

// scheduled is the detail of "Schedule Event".
type scheduled struct {
	Name  string           `json:"name"`
	At    contract.Instant `json:"at"`
	Event scheduledEvent   `json:"event"`
}

type scheduledEvent struct {
	Source     string       `json:"source"`
	DetailType string       `json:"detailType"`
	Detail     task.Request `json:"detail"`
}

// Dispatch implements Dispatcher. Faults: Invalid when the bus rejects it, Unavailable.
func (d BusDispatcher) Dispatch(ctx context.Context, t AgentTask) error {
	r := t.TaskRequest()
	switch r.Source = d.Bus.Source; {
	case t.Delay <= d.Soon:
		return d.Bus.Publish(ctx, bus.Event{DetailType: contract.RunAgentTask, Detail: r})
	case d.Later != nil:
		return d.Later(ctx, r)
	}
	return d.Bus.Publish(ctx, bus.Event{DetailType: ScheduleEvent, Detail: scheduled{
		Name: t.TaskID, At: r.NotBefore, Event: scheduledEvent{Source: d.Bus.Source, DetailType: contract.RunAgentTask, Detail: r},
	}})
}
