package e2e_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// story is a session's event stream.
type story []contract.SessionEvent

// story reads the stream from its rows, and fails the test where it has a gap.
func (d door) story(t *testing.T, sessionID string) story {
	t.Helper()
	var out story
	for e, err := range d.table.SessionEvents(context.Background(), sessionID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Index != int64(len(out)) {
			t.Errorf("event %d of %s has index %d", len(out), sessionID, e.Index)
		}
		out = append(out, e)
	}
	return out
}

// of gives the data of the events of one type.
func of[T contract.EventData](t *testing.T, s story) []T {
	t.Helper()
	var out []T
	for _, e := range s {
		var data T
		if e.Type != data.EventType() {
			continue
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// types names the events in order; deltas in a row only once.
func (s story) types() []string {
	var out []string
	for _, e := range s {
		if len(out) == 0 || e.Type != "message.appended" || out[len(out)-1] != e.Type {
			out = append(out, e.Type)
		}
	}
	return out
}
