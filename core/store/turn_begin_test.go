package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func TestTurnBegin(t *testing.T) {
	table := store.Table{Name: "main", DynamoDB: fake.NewDynamo("main")}
	// rows of one, three, one and two events: the session, a turn in two rows, a notice, an event of no turn
	for _, row := range [][]string{{""}, {"turn_1", "turn_1", "turn_1"}, {"turn_1"}, {"cancelled_2_2", "cancelled_2_2"}, {""}} {
		var events []contract.SessionEvent
		from := int64(0)
		for range table.SessionEvents(t.Context(), "s", 0) {
			from++
		}
		for i, turn := range row {
			events = append(events, contract.SessionEvent{Type: "x", Index: from + int64(i), SessionID: "s", TurnID: turn, Data: json.RawMessage(`{}`)})
		}
		if err := table.Commit(t.Context(), store.NewEvents("s", session.Me{}, events, 1<<40)); err != nil {
			t.Fatal(err)
		}
	}
	for index, want := range []int64{0, 1, 1, 1, 1, 5, 5, 7, 8, 5, 5} {
		if got, err := table.TurnBegin(t.Context(), "s", int64(index)); err != nil || got != want {
			t.Errorf("TurnBegin(%d) = %d, %v, want %d", index, got, err, want)
		}
	}
	if got, err := table.TurnBegin(t.Context(), "nobody's", 3); err != nil || got != 3 {
		t.Errorf("TurnBegin of no session = %d, %v", got, err)
	}
}

// TestEventsWhoseTimeIsOver are not there: a log begins with the first whose time is not.
func TestEventsWhoseTimeIsOver(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for n, life := range []time.Duration{time.Hour, time.Hour, 3 * time.Hour} {
			b.commit(t, store.NewEvents("s", session.Me{}, events(int64(n), "x"), b.clock.Now().Add(life).Unix()))
		}
		b.clock.Advance(2 * time.Hour)
		var left []int64
		for e, err := range b.SessionEvents(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, e.Index)
		}
		if len(left) != 1 || left[0] != 2 {
			t.Errorf("left are %v", left)
		}
	})
}
