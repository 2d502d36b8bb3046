package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
)

func TestBudgetIsReservedAndSettled(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := context.Background()
		stack := money.Budget{Scope: money.Stack, Limit: 100, Period: money.Day}
		agent := money.Budget{Scope: money.Agent("ada"), Limit: 60, Period: money.Hour}
		for _, set := range []money.Budget{stack, agent} {
			if err := b.SetBudget(ctx, set); err != nil {
				t.Fatal(err)
			}
		}
		budgets, err := b.Budgets(ctx, money.Stack, money.AgentType("reviewer"), money.Agent("ada"))
		if err != nil || cmp.Diff([]money.Budget{stack, agent}, budgets) != "" {
			t.Fatalf("budgets %v, %v", budgets, err)
		}

		holds, err := b.Reserve(ctx, "c1", 50, budgets)
		if err != nil || len(holds) != 2 {
			t.Fatalf("Reserve = %v, %v", holds, err)
		}
		if again, err := b.Reserve(ctx, "c1", 50, budgets); err != nil || cmp.Diff(holds, again) != "" {
			t.Errorf("a repeated Reserve = %v, %v, want what it holds", again, err)
		}
		if _, err := b.Reserve(ctx, "c2", 20, budgets); !fault.Is(err, fault.Limit) || fault.ReasonOf(err) != money.OverBudget {
			t.Errorf("over the agent's budget: %v, want Limit over_budget", err)
		}
		window(t, b, stack, money.Window{Committed: 50}) // the refused call holds nothing anywhere

		used := model.Usage{InputTokens: 3, CacheReadTokens: 4, OutputTokens: 5}
		for range 2 { // the second time as a retry
			if err := b.Settle(ctx, holds, 10, used); err != nil {
				t.Fatal(err)
			}
		}
		window(t, b, stack, money.Window{Committed: 10, Spent: 10, Calls: 1, Input: 7, Output: 5})
		window(t, b, agent, money.Window{Committed: 10, Spent: 10, Calls: 1, Input: 7, Output: 5})

		b.clock.Advance(time.Hour)
		window(t, b, agent, money.Window{})
		if err := b.DropBudget(ctx, agent.Scope); err != nil {
			t.Fatal(err)
		}
		if left, err := b.Budgets(ctx, agent.Scope); err != nil || len(left) > 0 {
			t.Errorf("after DropBudget: %v, %v", left, err)
		}
	})
}

func window(t *testing.T, b bench, of money.Budget, want money.Window) {
	t.Helper()
	got, err := b.BudgetWindow(context.Background(), of)
	want.Start, _ = of.Period.Window(b.Now())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("window of %s (-want +got):\n%s%v", of.Scope, diff, err)
	}
}

func TestAHoldWhoseProcessDiedIsSpent(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := context.Background()
		stack := money.Budget{Scope: money.Stack, Limit: 100, Period: money.Month}
		holds, err := b.Reserve(ctx, "c1", 30, []money.Budget{stack})
		if err != nil {
			t.Fatal(err)
		}
		if gone, err := b.SweepHold(ctx, money.Stack, "c1"); err != nil || !gone {
			t.Errorf("a young hold: gone %v, %v", gone, err)
		}
		b.clock.Advance(21 * time.Minute)
		for i, want := range []bool{false, true} {
			if gone, err := b.SweepHold(ctx, money.Stack, "c1"); err != nil || gone != want {
				t.Errorf("sweep %d: gone %v, %v, want %v", i, gone, err, want)
			}
		}
		if err := b.Settle(ctx, holds, 5, model.Usage{}); err != nil { // the process was only slow
			t.Fatal(err)
		}
		window(t, b, stack, money.Window{Committed: 30, Spent: 30, Calls: 1})
	})
}

func TestAThousandReservationsNeverOverspend(t *testing.T) {
	b := openFake(t)
	ctx := context.Background()
	stack := money.Budget{Scope: money.Stack, Limit: 1000, Period: money.Day}
	var admitted, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			holds, err := b.Reserve(ctx, fmt.Sprint("c", i), 10, []money.Budget{stack})
			switch {
			case fault.Is(err, fault.Limit):
				refused.Add(1)
				return
			case err != nil:
				t.Error(err)
				return
			}
			admitted.Add(1)
			if i%3 == 0 { // this process dies
				return
			}
			if err := b.Settle(ctx, holds, 4, model.Usage{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w, err := b.BudgetWindow(ctx, stack)
	if err != nil || w.Committed > stack.Limit || admitted.Load()+refused.Load() != 1000 || admitted.Load() < 100 {
		t.Fatalf("window %+v after %d admitted and %d refused, %v", w, admitted.Load(), refused.Load(), err)
	}
	b.clock.Advance(21 * time.Minute)
	for i := range 1000 {
		if _, err := b.SweepHold(ctx, money.Stack, fmt.Sprint("c", i)); err != nil {
			t.Fatal(err)
		}
	}
	if w, err = b.BudgetWindow(ctx, stack); err != nil || w.Held() != 0 || w.Spent > stack.Limit || w.Calls != admitted.Load() {
		t.Errorf("after the sweep: %+v, %v, want nothing held and %d calls", w, err, admitted.Load())
	}
}
