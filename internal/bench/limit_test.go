package bench_test

import (
	"os"
	"testing"

	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/turn"
)

// TestALongConversation: thousands of turns (10,000 with SOAK=1) write no row that the table refuses, cost the last turn what they
// cost the second, and are whole when they are read anew.
func TestALongConversation(t *testing.T) {
	turns := 300
	if os.Getenv("SOAK") != "" {
		turns = 10_000
	}
	w := newWorld(plain)
	w.model.Forget = true
	w.turn(t)
	second := w.cost(t)
	for range turns - 3 {
		w.turn(t)
	}
	last := w.cost(t)
	if last.bytes > second.bytes*2 {
		t.Errorf("turn %d writes %d bytes, turn 2 wrote %d", turns, last.bytes, second.bytes)
	}
	w.whole(t, turns*2)
}

// TestALargeToolResult: a result of 10 MB goes to the model and into the history, in rows that the table takes.
func TestALargeToolResult(t *testing.T) {
	const bytes = 10 << 20
	w := newWorld(withTool, lookUp(bytes))
	w.turn(t)
	messages := w.whole(t, 4)
	if n := len(messages); n < bytes {
		t.Errorf("the history has %d bytes, want the result of %d in it", n, bytes)
	}
	if w.table.largest > store.MaxItemBytes {
		t.Errorf("a row of %d bytes was written", w.table.largest)
	}
	w.turn(t) // and the conversation goes on
}

// whole reads the history as a worker that does not remember it, and gives all that was said.
func (w *world) whole(t *testing.T, messages int) string {
	t.Helper()
	w.engine.Remembered = &turn.Memory{}
	s, err := w.engine.Table.State(t.Context(), sessionID)
	if err != nil {
		t.Fatal(err)
	}
	h, err := w.engine.Table.History(t.Context(), sessionID, s.Tip)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Messages) != messages {
		t.Errorf("the history has %d messages, want %d", len(h.Messages), messages)
	}
	said := ""
	for _, m := range h.Messages {
		said += m.PlainText()
		for _, b := range m.Content {
			if b.ToolResult != nil {
				said += b.ToolResult.Content[0].Text
			}
		}
	}
	return said
}
