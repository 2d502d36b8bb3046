package flow

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// SyncSchedules makes a group of schedules equal to those of the program. The group is its own: reminders and events that come later
// are in another.
type SyncSchedules struct {
	Group interface { // later.Group; safe to call again
		Become(ctx context.Context, want []bus.Schedule) (put, deleted int, err error)
	}
	Schedules schedule.Set
	Wrong     error        // what is wrong with them: nothing is changed, but to take all away that still works; nil: nothing is
	Off       bool         // no schedule is to fire
	Log       *slog.Logger // nil: discard
}

// Do makes the group equal to the program's schedules, or empties it if gone: the stack is being deleted. Idempotent, also after it was
// cut off. Faults: Invalid,
// Unavailable.
func (f SyncSchedules) Do(ctx context.Context, gone bool) error {
	if !gone && f.Wrong != nil {
		return f.Wrong
	}
	var want []bus.Schedule
	if !gone && !f.Off {
		want = f.want()
	}
	put, deleted, err := f.Group.Become(ctx, want)
	if err != nil {
		return fmt.Errorf("sync schedules: %w", err)
	}
	Edges{Log: f.Log}.log().InfoContext(ctx, "schedules are in step", "put", put, "deleted", deleted)
	return nil
}

func (f SyncSchedules) want() []bus.Schedule {
	var want []bus.Schedule
	for _, d := range f.Schedules.All() {
		names := d.Names()
		for _, name := range slices.Sorted(maps.Keys(names)) {
			// Scheduler fills in when the firing was due. An id needs no escaping.
			input := fmt.Sprintf(`{"scheduleId":%q,"at":"<aws.scheduler.scheduled-time>"}`, d.ID)
			want = append(want, bus.Schedule{
				Name: name, Expression: names[name], TimeZone: d.TimeZone, DetailType: contract.RunScheduleType, Detail: input,
			})
		}
	}
	return want
}
