package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestAStopWhileItIsSummedUp ends the turn; the next one sums up and goes on.
func TestAStopWhileItIsSummedUp(t *testing.T) { synctest.Test(t, stopWhileItIsSummedUp) }

func stopWhileItIsSummedUp(t *testing.T) {
	p := play(summing(helpful))
	room(p.Stage, 3000)
	p.Mid = []act{stop(p, id, false)}
	p.During = func() {
		if isSummary(lastRequest(p.Stage)) {
			p.Midst()
		}
	}
	ctx := t.Context()
	for i := range 12 {
		must(t, long(p, fmt.Sprint("m", i), 50)(ctx), p.Rest(ctx, id), p.Check(id))
	}
	if failed, completed := told(t, p.Stage, id, "turn.failed"), told(t, p.Stage, id, "turn.completed"); len(failed) != 1 || len(completed) != 11 ||
		!strings.Contains(failed[0], `"status":"cancelled"`) {
		t.Errorf("turns failed: %v, and %d are complete", failed, len(completed))
	}
	if got := stored(t, p.Stage).Messages[0].PlainText(); !strings.HasPrefix(got, "<summary_of") {
		t.Errorf("the history begins %q", got)
	}
}

// long sends a message of so many words.
func long(p *stage.Play, delivery string, words int) act {
	return func(ctx context.Context) error {
		_, err := p.Send(ctx, id, strings.Repeat("words ", words), as(contract.Preempt, delivery))
		return err
	}
}

// compacting is a play whose turn is made shorter twice: before its first step and in its middle.
func compacting() (*stage.Play, func() error) {
	p := play(summing(func(req model.Request) fake.Turn {
		text := lastText(req)
		switch {
		case !strings.Contains(text, "tools"):
			return fake.Say("you said ", text)
		case len(req.Messages[len(req.Messages)-1].Results()) == 0:
			return fake.Calls(strings.Repeat("let me see ", 150), call(1, "look_up", "a"))
		case !strings.Contains(jsonOfAny(req.Messages), "write_down did b"):
			return fake.Calls(strings.Repeat("and so ", 150), call(2, "write_down", "b"))
		}
		return fake.Say("done with tools")
	}))
	room(p.Stage, 2300)
	p.Acts = []act{
		long(p, "dlv_long", 230), rest(p, id), send(p, id, "use the tools", contract.Preempt), rest(p, id), send(p, id, "hello", contract.Preempt),
	}
	return p, func() error {
		if err := ran(p, id)(); err != nil {
			return err
		}
		if summaries, _ := asked(p.Stage); len(summaries) < 2 {
			return fmt.Errorf("%d summaries, want one before the first step and one in the middle", len(summaries))
		}
		return nil
	}
}

// lastText is what the user asked last.
func lastText(req model.Request) string {
	for _, m := range slices.Backward(req.Messages) {
		for _, b := range slices.Backward(m.Content) {
			if m.Role == model.User && b.ToolResult == nil {
				return b.Text
			}
		}
	}
	return ""
}

func jsonOfAny(v any) string { return string(mustJSON(v)) }

// TestWhereverItIsCutOffWhileMadeShorter: a death or a lost answer at any call of a turn whose history is made shorter, also when a
// message interrupts it over the summary.
func TestWhereverItIsCutOffWhileMadeShorter(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a turn whose history is made shorter", New: func() *fake.Run {
		p, check := compacting()
		return p.Run(func() string {
			events, _, _ := strings.Cut(p.Story(id), "\nuser ")
			return events
		}, check)
	}})
	fake.Explore(t, fake.Flow{Name: "a message that interrupts a summary", New: func() *fake.Run {
		p, _ := compacting()
		p.During = func() {
			if isSummary(lastRequest(p.Stage)) {
				p.Midst()
			}
		}
		p.Mid = []act{send(p, id, "wait", contract.Preempt)}
		return p.Run(nil, check(p, id))
	}})
}
