package agency_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// spend counts money as spent by a scope.
func (w *world) spend(t *testing.T, scope string, amount money.Amount) {
	t.Helper()
	if err := w.pay(t.Context(), scope, amount); err != nil {
		t.Fatal(err)
	}
}

func (w *world) pay(ctx context.Context, scope string, amount money.Amount) error {
	budgets, err := w.table.Budgets(ctx, scope)
	if err != nil {
		return err
	}
	holds, err := w.table.Reserve(ctx, "call-"+scope, amount, budgets)
	if err != nil {
		return err
	}
	return w.table.Settle(ctx, holds, amount, model.Usage{})
}

// A task does not begin while its agent or its type has nothing left, and begins in the next window.
func TestBudgets(t *testing.T) {
	for _, scope := range []string{money.AgentType("reviewer"), money.Agent("reviewer/ann"), money.Stack} {
		t.Run(scope, func(t *testing.T) {
			var b agency.TableBudget
			isolated(t, func(d *definition) { b.Table = d.Table; d.Budget = b }, func(t *testing.T, w *world) {
				w.review = nothing
				if err := w.table.SetBudget(t.Context(), money.Budget{Scope: scope, Limit: money.Dollars(1), Period: money.Day}); err != nil {
					t.Fatal(err)
				}
				deliver := func(id, agentID string, want task.Status, text string) {
					t.Helper()
					got, err := w.agent.Deliver(t.Context(), request(id, agentID, "review"), "")
					if err != nil || got.Status != want || !strings.Contains(got.Error, text) {
						t.Errorf("%s of %s = %+v, %v, want %s %q", id, agentID, got, err, want, text)
					}
				}
				deliver("t1", "ann", task.Completed, "")
				w.spend(t, scope, money.Dollars(1))
				deliver("t2", "ann", task.Failed, "Over budget: the budget "+scope)
				if w.ended["t2"] != 0 {
					t.Error("the handler ran over budget")
				}
				if scope == money.Agent("reviewer/ann") {
					deliver("t3", "bob", task.Completed, "") // another agent's money
				}
				w.clock.Advance(24 * time.Hour)
				deliver("t4", "ann", task.Completed, "")
				w.settle(t)
				w.sound(t)
			})
		})
	}
}

// A budget that does not answer fails no task: it is delivered again.
func TestBudgetThatDoesNotAnswer(t *testing.T) {
	asked := 0
	isolated(t, func(d *definition) {
		d.Budget = admit(func(agency.Spender) error {
			if asked++; asked == 1 {
				return fault.New(fault.Unavailable, "no answer")
			}
			return nil
		})
	}, func(t *testing.T, w *world) {
		w.review = nothing
		if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("Deliver = %v, want it to be delivered again", err)
		}
		w.settle(t)
		w.sound(t)
		if got := w.status(t, "t1"); got.Status != task.Completed || asked != 2 {
			t.Errorf("after it answered: %s, asked %d times", got.Status, asked)
		}
	})
}

type admit func(s agency.Spender) error

func (a admit) Admit(_ context.Context, s agency.Spender) error { return a(s) }

// Whatever is cut off while an agent is over budget: the task ends, once, and what was promised stays.
func TestExploreOverBudget(t *testing.T) {
	broke := func(w *world) {
		b := money.Budget{Scope: money.Agent("reviewer/ann"), Limit: 0, Period: money.Day}
		if err := w.table.SetBudget(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	explore(t, "over budget", func(d *definition) { d.Budget = agency.TableBudget{Table: d.Table} }, broke, event("Deadline Near"), "FAILED \"Over budget")
}

// A look that a worker died over is closed when no money is left to look again: it blocks nobody.
func TestALookIsClosedWhenTheBudgetKeepsItBack(t *testing.T) {
	var b agency.TableBudget
	isolated(t, func(d *definition) { b.Table = d.Table; d.Budget = b }, func(t *testing.T, w *world) {
		if err := w.table.SetBudget(t.Context(), money.Budget{Scope: money.Stack, Limit: money.Dollars(1), Period: money.Day}); err != nil {
			t.Fatal(err)
		}
		next := w.promised(t)
		w.verdict = func(c *ctxOf, com agency.Commitment[intent]) error {
			_, err := c.AdvanceCommitment(com.ID, agency.Start{})
			w.Disturb(fake.Disturbance{Name: "dynamo.", Mode: fake.Fail, Times: 1_000_000}) // nothing it does from now on counts
			return errors.Join(err, errors.New("dead"))
		}
		if _, err := w.agent.Deliver(t.Context(), next, ""); err == nil {
			t.Error("the dead worker has ended its task")
		}
		w.Calm()
		time.Sleep(time.Minute)
		w.spend(t, money.Stack, money.Dollars(1))
		got, err := w.agent.Deliver(t.Context(), next, "")
		if err != nil || got.Status != task.Failed || !strings.HasPrefix(got.Error, "Over budget") {
			t.Errorf("Deliver = %+v, %v, want over budget", got, err)
		}
		if com := w.looked(t); com.Status != agency.CommitmentFailed {
			t.Errorf("the promise is %s, want failed", com.Status)
		}
	})
}
