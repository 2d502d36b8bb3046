package bench_test

import (
	"fmt"
	"testing"

	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
)

// TestARestoreReadsFewRows: a worker that does not remember a conversation reads about 200 pieces of it at most, however long it is,
// and the turns that write it as one again write no row that is too large.
func TestARestoreReadsFewRows(t *testing.T) {
	w := newWorld(withTool, lookUp(1000))
	most := 0
	for n := range 400 {
		w.turn(t)
		if n%10 == 9 {
			most = max(most, w.restore(t).Segments)
		}
	}
	if h := w.restore(t); most > 204 || len(h.Messages) != 1600 {
		t.Errorf("%d messages are read from up to %d pieces", len(h.Messages), most)
	}
	if w.table.largest > store.MaxItemBytes {
		t.Errorf("a row of %d bytes was written", w.table.largest)
	}
}

// restore reads the history from the table.
func (w *world) restore(tb testing.TB) snapshot.History {
	tb.Helper()
	s, err := w.engine.Table.State(tb.Context(), sessionID)
	if err != nil {
		tb.Fatal(err)
	}
	h, err := w.engine.Table.History(tb.Context(), sessionID, s.Tip)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// BenchmarkRestore reads a conversation of plain turns from the table as it grows, without a network.
func BenchmarkRestore(b *testing.B) {
	w, turns := newWorld(plain), 0
	for _, at := range []int{1, 100, 400} {
		for ; turns < at; turns++ {
			w.turn(b)
		}
		b.Run(fmt.Sprintf("turn=%d", at), func(b *testing.B) {
			pieces := 0
			for b.Loop() {
				pieces = w.restore(b).Segments
			}
			b.ReportMetric(float64(pieces), "pieces")
		})
	}
}
