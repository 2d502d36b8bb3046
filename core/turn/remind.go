package turn

import (
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// reminders are those of the session's owner; nil where the host has none.
func (o *owner) reminders() schedule.Reminders {
	if o.Alarms == nil {
		return nil
	}
	return flow.HostReminders{Reminders: flow.Reminders{Edges: o.Edges, Alarms: o.Alarms}, Caller: o.state.Principal}
}
