package store_test

import (
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/store"
)

// TestAFullInboxIsReadAsFarAsATurnTakes: however much waits, about a megabyte is read, from the first message on.
func TestAFullInboxIsReadAsFarAsATurnTakes(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		const waiting, bytes = 12, 300_000
		for n := range waiting {
			b.commit(t, store.NewMessage("s", store.Message{Number: int64(n + 1), Text: "look", Files: map[string]string{"a.txt": strings.Repeat("x", bytes)}}))
		}
		list, err := b.Inbox(t.Context(), "s", 3, waiting)
		if err != nil || len(list) != 4 || list[0].Number != 3 {
			t.Errorf("%d messages are read, %v", len(list), err)
		}
	})
}
