package loop_test

import (
	"testing"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// TestNotebookOfARun: calls of one reply, which run at the same time, are in order; another worker that goes on in the middle has
// the notes too.
func TestNotebookOfARun(t *testing.T) {
	first := newScript(t, calls(`notebook {"mode":"create","newStr":"a"}`, `notebook {"mode":"write","newStr":"b"}`, `notebook {"mode":"read"}`), calls(`notebook {"mode":"read"}`), says(model.EndTurn, "ok"))
	runner := loop.Runner{Model: first, Tools: []tool.Tool{tool.Notebook{}}}
	if _, err := runner.Run(t.Context(), tool.Context{}, history("go")); err != nil {
		t.Fatal(err)
	}
	if got := first.asked(1)[2]; got != `user: c1:"Notebook \"default\" has 1 lines." c2:"Notebook \"default\" has 2 lines." c3:"a\nb"` {
		t.Errorf("the first step's results are %s", got)
	}
	if got := first.asked(2)[4]; got != `user: call-2-1:"a\nb"` {
		t.Errorf("the second step's results are %s", got)
	}
	// The worker died after the calls of the second step were saved.
	second := newScript(t, says(model.EndTurn, "ok"))
	runner.Model = second
	if _, err := runner.Run(t.Context(), tool.Context{}, first.Requests()[2].Messages[:4]); err != nil {
		t.Fatal(err)
	}
	if got := second.asked(0)[4]; got != `user: call-2-1:"a\nb"` {
		t.Errorf("after a change of workers the results are %s", got)
	}
}
