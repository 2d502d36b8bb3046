package schedules_test

import (
	"testing"

	"github.com/steadfast-agents/steadfast/agent/schedules"
)

func TestSchedulesAreSound(t *testing.T) {
	if handlers, err := schedules.Reminders(); err != nil || len(handlers) == 0 {
		t.Errorf("the reminders' handlers are %v, %v", handlers, err)
	}
	set, err := schedules.Set()
	if err != nil {
		t.Error(err)
	}
	for _, id := range []string{"weekly-review", "friday-notes"} {
		if _, ok := set.Get(id); !ok {
			t.Errorf("the example %s is not there", id)
		}
	}
}
