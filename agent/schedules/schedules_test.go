package schedules_test

import (
	"testing"

	"github.com/steadfast-agents/steadfast/agent/schedules"
)

func TestSchedulesAreSound(t *testing.T) {
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
