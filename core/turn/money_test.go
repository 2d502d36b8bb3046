package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// priced puts the stage's model under the stack's budget, at 1,000 billionths of a dollar for each token.
func priced(s *stage.Stage, limit money.Amount) money.Budget {
	s.Engine.Model = loop.Meter{
		Model: s.Engine.Model, ID: "m", Prices: money.Prices{"m": {Input: 1, Output: 1}}, Ledger: s.Edges.Table, Scopes: []string{money.Stack},
		NewID: s.Edges.NewID,
	}
	return money.Budget{Scope: money.Stack, Limit: limit, Period: money.Day}
}

// enough is a limit for several turns: 4,096 tokens of output are reserved for each call.
const enough = money.Amount(100_000_000)

func TestATurnSaysWhatItCost(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		budget := priced(s, enough)
		must(t, s.Edges.Table.SetBudget(ctx, budget))
		p := &stage.Play{Stage: s}
		must(t, publish(p, request("t-1", id, "use the tools"))(ctx), s.Rest(ctx, id), s.Check(id))
		done := told(t, s, id, "turn.completed")
		if len(done) != 1 || !strings.Contains(done[0], `"inputTokens":20,"outputTokens":14,"cacheReadTokens":0,"cacheWriteTokens":0,"costUsd":0.000034`) {
			t.Errorf("the turn says %s", done)
		}
		got, err := s.Edges.Table.Task(ctx, "t-1")
		must(t, err)
		if got.Usage == nil || got.Usage.CostUSD == nil || *got.Usage.CostUSD != 0.000034 || got.Usage.InputTokens != 20 {
			t.Errorf("the task says %+v", got.Usage)
		}
		w, err := s.Edges.Table.BudgetWindow(ctx, budget)
		if err != nil || w.Spent != 34_000 || w.Held() != 0 || w.Calls != 2 {
			t.Errorf("the window %+v, %v", w, err)
		}
		told := s.Bus.Of(contract.AgentTaskCompleted)
		if len(told) != 1 || !strings.Contains(string(told[0].Detail), `"costUsd":0.000034`) {
			t.Errorf("the completion says %v", told)
		}
	})
}

func TestAModelWithoutAPriceHasNoCost(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Model = loop.Meter{Model: s.Engine.Model, ID: "unknown", Prices: money.Default()}
		say(t, ctx, s, "hello")
		if done := told(t, s, id, "turn.completed"); strings.Contains(done[0], "costUsd") {
			t.Errorf("the turn says %s, want no cost", done)
		}
	})
}

// TestATurnWithoutMoneyLeft ends before the model is asked, says when there is money again, and the next window goes on.
func TestATurnWithoutMoneyLeft(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		must(t, s.Edges.Table.SetBudget(ctx, priced(s, 5_400_000))) // one call's worst case is about 4,900,000; what one turn spends is little
		say(t, ctx, s, "hello")
		say(t, ctx, s, strings.Repeat("long ", 400)) // two bytes of input count as a token: too much now
		failed := told(t, s, id, "turn.failed")
		if n := len(s.Model.Requests()); len(failed) != 1 || n != 1 || !strings.Contains(failed[0], "the next window begins at ") {
			t.Fatalf("%d requests, failed: %s", n, failed)
		}
		s.Clock.Advance(24 * time.Hour)
		must(t, s.Edges.Table.SetBudget(ctx, money.Budget{Scope: money.Stack, Limit: enough, Period: money.Day}))
		say(t, ctx, s, "and now?")
		if done := told(t, s, id, "turn.completed"); len(done) != 2 {
			t.Errorf("completed: %s", done)
		}
	})
}

// TestNothingIsSummedUpWithoutMoney: a history is not cut for a turn that cannot go on.
func TestNothingIsSummedUpWithoutMoney(t *testing.T) {
	bubble(t, summing(helpful), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		room(s, 3000)
		for range 4 {
			say(t, ctx, s, strings.Repeat("words ", 90))
		}
		before := stored(t, s)
		must(t, s.Edges.Table.SetBudget(ctx, priced(s, 1)))
		for range 3 {
			say(t, ctx, s, strings.Repeat("words ", 90))
		}
		if after := stored(t, s); len(after.Messages) != len(before.Messages)+6 {
			t.Errorf("%d messages, want the %d of before and 6", len(after.Messages), len(before.Messages))
		}
	})
}

// TestNoHoldOutlivesItsCall: wherever a turn under a budget is cut off, nothing stays reserved, and what was spent is counted.
func TestNoHoldOutlivesItsCall(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a turn under a budget", New: func() *fake.Run {
		p := play(helpful)
		budget := priced(p.Stage, enough)
		p.Acts = []act{
			func(ctx context.Context) error { return p.Edges.Table.SetBudget(ctx, budget) },
			send(p, id, "use the tools", contract.Preempt), rest(p, id), send(p, id, "hello", contract.Preempt),
		}
		return p.Run(nil, func() error {
			if err := ran(p, id)(); err != nil {
				return err
			}
			p.Clock.Advance(21 * time.Minute)
			ctx := context.Background()
			if _, err := (flow.Recover{Edges: p.Edges}).Do(ctx, struct{}{}); err != nil {
				return err
			}
			w, err := p.Edges.Table.BudgetWindow(ctx, budget)
			switch {
			case err != nil:
				return err
			case w.Held() != 0 || strings.Contains(p.Dynamo.Dump(), "|HOLD#"):
				return fmt.Errorf("still held: %+v", w)
			case w.Calls < 3 || w.Spent < 3*13_000 || w.Spent > budget.Limit:
				return fmt.Errorf("spent %+v", w)
			}
			return nil
		})
	}})
}
