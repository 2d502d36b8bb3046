package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// plan asks for two tools in each of two steps and then answers. What it says follows from the history alone.
func plan(req model.Request) fake.Turn {
	var results int
	for _, m := range req.Messages {
		results += len(m.Results())
	}
	if step := results / 2; step < 2 {
		return fake.Calls("", workOn(step, 1), workOn(step, 2))
	}
	return fake.Say(fmt.Sprintf("done after %d results", results))
}

func workOn(step, n int) model.ToolUse {
	return model.ToolUse{ID: fmt.Sprintf("c%d", n), Name: "work", Input: json.RawMessage(fmt.Sprintf(`{"x":"%d.%d"}`, step, n))}
}

var errKilled = errors.New("the worker is dead")

// book is a journal that keeps a history, and whose worker dies around one of its calls.
type book struct {
	history []model.Message
	nudges  []string
	calls   int
	killAt  int  // number of the call, from 1; 0: never
	after   bool // dies after the call took effect
	saved   map[string]bool
}

// step counts a call; do has its effect.
func (b *book) step(do func()) error {
	b.calls++
	if b.killAt == b.calls && !b.after {
		return errKilled
	}
	do()
	if b.killAt == b.calls {
		return errKilled
	}
	return nil
}

func (b *book) SaveCalls(_ context.Context, _ int, reply model.Reply) error {
	return b.step(func() { b.history = append(b.history, reply.Message) })
}

func (b *book) MayRun(context.Context, model.ToolUse) error { return b.step(func() {}) }

func (b *book) SaveResults(_ context.Context, _ int, results []model.ToolResult, _ []time.Duration) error {
	return b.step(func() { b.save(results) })
}

func (b *book) save(results []model.ToolResult) {
	m := model.Message{Role: model.User}
	for _, r := range results {
		m.Content = append(m.Content, model.Block{ToolResult: &r})
		b.saved[r.Content[0].Text] = true
	}
	if len(results) > 0 {
		b.history = append(b.history, m)
	}
}

func (b *book) Boundary(context.Context) (blocks []model.Block, err error) {
	err = b.step(func() {
		for _, n := range b.nudges {
			blocks = append(blocks, model.Block{Text: n})
		}
		if len(blocks) > 0 {
			b.history = append(b.history, model.Message{Role: model.User, Content: blocks})
		}
		b.nudges = nil
	})
	return blocks, err
}

// TestResumeAtEveryPoint kills the owner of a turn before and after each call of its journal and lets another owner go on
// from what was kept: the turn always ends the same, and no tool whose result was kept runs again.
func TestResumeAtEveryPoint(t *testing.T) {
	turn := func(killAt int, after bool) (b *book, ran map[string]int, final string) {
		b = &book{history: history("go"), nudges: []string{"and hurry"}, killAt: killAt, after: after, saved: map[string]bool{}}
		ran = map[string]int{}
		work := fn("work", func(_ tool.Context, x string) (any, error) {
			if b.saved["did "+x] {
				t.Errorf("killed at %d (after: %v): %s ran although its result is kept", killAt, after, x)
			}
			ran[x]++
			return "did " + x, nil
		})
		m := &fake.Model{Answer: plan}
		r := loop.Runner{Model: m, Tools: []tool.Tool{work}, Journal: b, Limits: loop.Limits{Parallel: 1}}
		out, err := r.Run(t.Context(), tool.Context{}, b.history)
		if killAt > 0 {
			if !errors.Is(err, errKilled) {
				t.Fatalf("killed at %d (after: %v): Run = %v", killAt, after, err)
			}
			b.killAt = 0
			if !after {
				b.save(out.Finished) // an owner that can still write keeps what is finished
			}
			out, err = r.Run(t.Context(), tool.Context{}, b.history)
		}
		if err != nil {
			t.Fatalf("killed at %d (after: %v): the next owner's Run = %v", killAt, after, err)
		}
		for _, err := range m.Refused() {
			t.Errorf("killed at %d (after: %v): a request is refused: %v", killAt, after, err)
		}
		return b, ran, out.Final.PlainText()
	}
	undisturbed, ran, final := turn(0, false)
	if want := map[string]int{"0.1": 1, "0.2": 1, "1.1": 1, "1.2": 1}; final != "done after 4 results" || !cmp.Equal(want, ran) {
		t.Fatalf("undisturbed: %q, %v", final, ran)
	}
	for k := 1; k <= undisturbed.calls; k++ {
		for _, after := range []bool{false, true} {
			b, ran, got := turn(k, after)
			if got != final || len(ran) != 4 || len(b.nudges) != 0 {
				t.Errorf("killed at %d (after: %v): %q, ran %v, not taken %v, want %q", k, after, got, ran, b.nudges, final)
			}
			for x, n := range ran {
				if n > 2 {
					t.Errorf("killed at %d (after: %v): %s ran %d times", k, after, x, n)
				}
			}
		}
	}
	t.Logf("explored %d points", 2*undisturbed.calls)
}

func TestReplyUsageIsThatOfAllItsAttempts(t *testing.T) {
	var got []model.Usage
	m := newScript(t, attempt{used(3, 1), fault.New(fault.Unavailable, "busy")}, append(says(model.EndTurn, "done"), used(10, 2)))
	r := loop.Runner{Model: m, Sleep: func(context.Context, time.Duration) error { return nil }, Watch: func(e loop.Event) {
		if e, ok := e.(loop.Replied); ok {
			got = append(got, e.Usage)
		}
	}}
	if _, err := r.Run(t.Context(), tool.Context{}, history("go")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]model.Usage{{InputTokens: 13, OutputTokens: 3}}, got); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}
