package flow

import (
	"context"
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// Alarms bring events later, as later.Events does.
type Alarms interface {
	Send(ctx context.Context, e bus.Timed) (at time.Time, err error)
	Cancel(ctx context.Context, name string) error
}

// arm sets the alarm of a reminder's next time.
func (e Edges) arm(ctx context.Context, alarms Alarms, r schedule.ReminderRow) {
	if r.Status == schedule.Active {
		e.setAlarm(ctx, alarms, r, false)
	}
}

// setAlarm sets an alarm; keep leaves a far one that is there, which an earlier call has set: of a near one that comes twice the second
// is stale. If it cannot be set the sweep fires the reminder,
// about a minute late.
func (e Edges) setAlarm(ctx context.Context, alarms Alarms, r schedule.ReminderRow, keep bool) {
	detail, err := json.Marshal(contract.FireReminder{ReminderID: r.ReminderID, At: contract.At(r.Next())})
	if err == nil {
		_, err = alarms.Send(ctx, bus.Timed{
			Name: schedule.Name(schedule.Reminder, r.ReminderID), At: r.Next(), DetailType: contract.FireReminderType, Detail: detail, Waits: true,
			Keep: keep && r.Next().Sub(e.Now()) > schedule.Near,
		})
	}
	if err != nil {
		e.log().WarnContext(ctx, "a reminder's alarm is not set, the sweep will fire it", "reminder", r.ReminderID, "error", err)
	}
}

// disarm takes an alarm away. One that is left fires nothing, and goes with its time.
func (e Edges) disarm(ctx context.Context, alarms Alarms, id string) {
	if alarms == nil {
		return
	}
	if err := alarms.Cancel(ctx, schedule.Name(schedule.Reminder, id)); err != nil {
		e.log().WarnContext(ctx, "a reminder's alarm is left", "reminder", id, "error", err)
	}
}
