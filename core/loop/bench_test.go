package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// BenchmarkTurn is one turn: a call of a tool, then an answer of 200 pieces, with a model that answers at once. The history
// it starts from has the given number of earlier turns.
func BenchmarkTurn(b *testing.B) {
	pieces := make([]string, 200)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("word%d ", i)
	}
	replies := []fake.Turn{fake.Calls("", model.ToolUse{ID: "a", Name: "work", Input: json.RawMessage(`{"x":"it"}`)}), fake.Say(pieces...)}
	for _, turns := range []int{0, 100, 1000} {
		b.Run(fmt.Sprintf("history=%d", turns), func(b *testing.B) {
			var h []model.Message
			for range turns {
				h = append(h, history("question", "answer")...)
			}
			h = append(h, history("go")...)
			seen := 0
			b.ReportAllocs()
			for b.Loop() {
				r := loop.Runner{Model: &fake.Model{Script: replies}, Tools: []tool.Tool{work()}, Watch: func(loop.Event) { seen++ }}
				if _, err := r.Run(context.Background(), tool.Context{}, h); err != nil {
					b.Fatal(err)
				}
			}
			if seen == 0 {
				b.Error("nothing was shown")
			}
		})
	}
}
