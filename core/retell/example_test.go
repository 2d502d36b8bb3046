package retell_test

import (
	"encoding/json"
	"fmt"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/retell"
)

// Whoever comes late is told the turn from its beginning: the text in one run, not in the pieces in which it came.
func ExampleTurn_Messages() {
	var turn retell.Turn
	for i, data := range []contract.EventData{
		contract.TurnStarted{}, contract.StepStarted{Step: 1}, contract.MessageAppended{Delta: "It is "}, contract.MessageAppended{Delta: "noon."},
	} {
		raw, _ := json.Marshal(data)
		turn.Event(contract.SessionEvent{Type: data.EventType(), Index: int64(i), SessionID: "s-1", TurnID: "turn_1", Data: raw})
	}
	for _, m := range turn.Messages(retell.Wants{}) {
		line, _ := json.Marshal(m)
		fmt.Println(string(line))
	}
	fmt.Println(turn.Ended(), turn.Length())
	// Output:
	// {"type":"stream_event","event":{"init_event_loop":true},"turn_id":"turn_1","index":0}
	// {"type":"stream_event","event":{"data":"It is noon."},"turn_id":"turn_1","index":3,"offset":0}
	// false 11
}
