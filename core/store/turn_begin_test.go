package store_test

import (
	"encoding/json"
	"testing"

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
