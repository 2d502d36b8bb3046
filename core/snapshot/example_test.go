package snapshot_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// Two turns are two segments. A third, written by an owner who lost its lease, is on nobody's chain.
func ExampleAssemble() {
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	first := snapshot.NextID(now, "", [16]byte{15: 1})
	second := snapshot.NextID(now.Add(-time.Second), first, [16]byte{15: 2}) // a slow clock
	stale := snapshot.NextID(now, first, [16]byte{15: 3})
	h, err := snapshot.Assemble([]snapshot.Segment{
		{ID: first, Messages: []model.Message{model.Text(model.User, "hi")}, State: json.RawMessage(`{"mood":"good"}`)},
		{ID: second, Base: first, Messages: []model.Message{model.Text(model.Assistant, "hello")}},
		{ID: stale, Base: first, Messages: []model.Message{model.Text(model.Assistant, "too late")}},
	}, second)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range h.Messages {
		fmt.Println(m.Role, m.PlainText())
	}
	fmt.Println(string(h.State), h.Segments, second > first)
	// Output:
	// user hi
	// assistant hello
	// {"mood":"good"} 2 true
}

func ExampleTrim() {
	history := []model.Message{
		model.Text(model.User, "Count the files in every folder."),
		model.Text(model.Assistant, "One moment."), model.Text(model.User, "And?"), model.Text(model.Assistant, "There are 12."),
	}
	for _, m := range snapshot.Trim(history, snapshot.Limits{Messages: 2, KeepPrompt: true}) {
		fmt.Println(m.Role, m.PlainText())
	}
	// Output:
	// user Count the files in every folder.
	// assistant There are 12.
}
