package bench_test

import (
	"fmt"
	"testing"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// cost is what a turn took of the table.
type cost struct {
	reads, writes, bytes int
	units                fake.Units
}

func (w *world) cost(tb testing.TB) cost {
	tb.Helper()
	reads, writes, bytes, units := w.table.reads, w.table.writes, w.table.bytes, w.table.Units()
	w.turn(tb)
	return cost{w.table.reads - reads, w.table.writes - writes, w.table.bytes - bytes, w.table.Units().Minus(units)}
}

// kinds of turns that nobody follows.
var kinds = []struct {
	name  string
	say   func(model.Request) fake.Turn
	tools []tool.Tool
	units float64 // goal
}{
	{"plain", plain, nil, 30},
	{"tool", withTool, []tool.Tool{lookUp(100)}, 40},
}

// TestTurnsCost: what a turn of 1 KB writes is bounded and does not grow with the conversation.
func TestTurnsCost(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			w := newWorld(kind.say, kind.tools...)
			w.turn(t) // creates the session
			second := w.cost(t)
			for range 397 {
				w.turn(t)
			}
			last := w.cost(t)
			if last.bytes > second.bytes*2 {
				t.Errorf("turn 400 writes %d bytes, turn 2 wrote %d, want at most twice as much", last.bytes, second.bytes)
			}
			if last.units.Write > kind.units {
				t.Errorf("turn 400 takes %v write units, want at most %v", last.units.Write, kind.units)
			}
			t.Logf("turn 2 %+v, turn 400 %+v", second, last)
		})
	}
}

// BenchmarkTable reports what a turn takes of the table as a conversation grows.
func BenchmarkTable(b *testing.B) {
	at := []int{1, 2, 10, 100, 400}
	for _, kind := range kinds {
		w, took := newWorld(kind.say, kind.tools...), map[int]cost{}
		for n := range at[len(at)-1] {
			took[n+1] = w.cost(b)
		}
		for _, n := range at {
			b.Run(fmt.Sprintf("%s/turn=%d", kind.name, n), func(b *testing.B) {
				c := took[n]
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(c.reads), "reads/turn")
				b.ReportMetric(float64(c.writes), "writes/turn")
				b.ReportMetric(float64(c.bytes), "bytes/turn")
				b.ReportMetric(c.units.Write, "write-units/turn")
				b.ReportMetric(c.units.Read, "read-units/turn")
			})
		}
	}
}
