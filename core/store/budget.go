package store

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
)

// budgetRow is what is set for a scope.
type budgetRow struct {
	Limit  int64  `dynamodbav:"limit"` // billionths of a US dollar
	Period string `dynamodbav:"period"`
}

// windowRow counts up. committed is spent and held together: a condition cannot add.
type windowRow struct {
	Committed int64 `dynamodbav:"committed"`
	Spent     int64 `dynamodbav:"spent"`
	Calls     int64 `dynamodbav:"calls"`
	Input     int64 `dynamodbav:"inputTokens"`
	Output    int64 `dynamodbav:"outputTokens"`
}

// holdRow is a reservation. It is due when the call must be over.
type holdRow struct {
	Start     int64  `dynamodbav:"start"` // of the window, ms
	Amount    int64  `dynamodbav:"amount"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
	DuePK     string `dynamodbav:"duePk"`
	DueSK     string `dynamodbav:"dueSk"`
}

const (
	longestCall = 20 * time.Minute     // a function that made a call is over by then
	windowLife  = 400 * 24 * time.Hour // after its end a window can be looked up for that long
)

// SetBudget sets or replaces a scope's budget. What its window has spent stays. Idempotent. Faults: Invalid, Unavailable.
func (t Table) SetBudget(ctx context.Context, b money.Budget) error {
	if err := b.Check(); err != nil {
		return err
	}
	row, err := encode(key.Budget(b.Scope), "Budget", budgetRow{Limit: int64(b.Limit), Period: string(b.Period)})
	return t.Commit(ctx, Write{key: key.Budget(b.Scope), put: row, err: err})
}

// DropBudget removes a scope's budget. Idempotent. Faults: Unavailable.
func (t Table) DropBudget(ctx context.Context, scope string) error {
	return t.Commit(ctx, Write{key: key.Budget(scope), del: true})
}

// Budgets reads the budgets that the scopes have. Faults: Unavailable.
func (t Table) Budgets(ctx context.Context, scopes ...string) ([]money.Budget, error) {
	var all []money.Budget
	for _, scope := range scopes {
		var row budgetRow
		switch found, err := t.getInto(ctx, key.Budget(scope), &row); {
		case err != nil:
			return nil, err
		case found:
			all = append(all, money.Budget{Scope: scope, Limit: money.Amount(row.Limit), Period: money.Period(row.Period)})
		}
	}
	return all, nil
}

// BudgetWindow reads what a budget's present window has spent and holds. Faults: Unavailable.
func (t Table) BudgetWindow(ctx context.Context, b money.Budget) (money.Window, error) {
	start, _ := b.Period.Window(t.now())
	var row windowRow
	_, err := t.getInto(ctx, key.BudgetWindow(b.Scope, start.UnixMilli()), &row)
	return money.Window{Start: start, Spent: money.Amount(row.Spent), Committed: money.Amount(row.Committed),
		Calls: row.Calls, Input: row.Input, Output: row.Output}, err
}

// Reserve holds the amount in the present window of every budget, or in none. A call that holds already (its answer was lost)
// keeps what it holds. Faults: Limit with the reason money.OverBudget, Unavailable.
func (t Table) Reserve(ctx context.Context, call string, amount money.Amount, budgets []money.Budget) ([]money.Hold, error) {
	now := t.now()
	var holds []money.Hold
	var writes []Write
	for _, b := range budgets {
		if amount > b.Limit {
			return nil, b.Exceeded(amount, now)
		}
		start, end := b.Period.Window(now)
		holds = append(holds, money.Hold{Scope: b.Scope, Call: call, Start: start, Amount: amount})
		writes = append(writes, newHold(holds[len(holds)-1], now), commitTo(b, start, end, amount))
	}
	err := t.Commit(ctx, writes...)
	for i, b := range budgets {
		switch {
		case RefusedBy(err, writes[2*i].key):
			return holds, nil
		case RefusedBy(err, writes[2*i+1].key):
			return nil, b.Exceeded(amount, now)
		}
	}
	return holds, err
}

func newHold(h money.Hold, now time.Time) Write {
	k := key.BudgetHold(h.Scope, h.Call)
	return create(k, "BudgetHold", holdRow{
		Start: h.Start.UnixMilli(), Amount: int64(h.Amount), ExpiresAt: now.Add(windowLife).Unix(),
		DuePK: key.DuePK(k.PK), DueSK: key.DueSK(now.Add(longestCall).UnixMilli()),
	})
}

// commitTo counts an amount as committed if the limit has room for it.
func commitTo(b money.Budget, start, end time.Time, amount money.Amount) Write {
	expires, err := attribute(end.Add(windowLife).Unix())
	return Write{
		key: key.BudgetWindow(b.Scope, start.UnixMilli()), set: item{key.ExpiresAt: expires}, err: err,
		add:  map[string]int64{"committed": int64(amount)},
		cond: new(cond.Or(cond.Absent("committed"), cond.Is("committed", cond.OpLe, int64(b.Limit-amount)))),
	}
}

// Settle replaces the holds of a call by what it spent. A hold that is gone was settled or swept, and is left alone. Idempotent.
// Faults: Unavailable.
func (t Table) Settle(ctx context.Context, holds []money.Hold, spent money.Amount, usage model.Usage) error {
	var failed error
	for _, h := range holds { // one by one: a hold that was swept must not keep the others
		if err := t.settle(ctx, h, spent, usage); err != nil {
			failed = err
		}
	}
	return failed
}

func (t Table) settle(ctx context.Context, h money.Hold, spent money.Amount, usage model.Usage) error {
	hold := key.BudgetHold(h.Scope, h.Call)
	err := t.Commit(ctx, deleteExisting(hold), Write{
		key: key.BudgetWindow(h.Scope, h.Start.UnixMilli()),
		add: map[string]int64{
			"committed": int64(spent - h.Amount), "spent": int64(spent), "calls": 1,
			"inputTokens": int64(usage.InputTokens + usage.CacheReadTokens + usage.CacheWriteTokens), "outputTokens": int64(usage.OutputTokens),
		},
	})
	if RefusedBy(err, hold) {
		return nil
	}
	return err
}

// SweepHold counts a hold whose call must be over as spent in full: its process died and what the call cost is not known. gone is
// true if it is not there or not due. Idempotent. Faults: Unavailable.
func (t Table) SweepHold(ctx context.Context, scope, call string) (gone bool, err error) {
	var row holdRow
	found, err := t.getInto(ctx, key.BudgetHold(scope, call), &row)
	if err != nil || !found || row.DueSK > key.DueSK(t.now().UnixMilli()) {
		return true, err
	}
	h := money.Hold{Scope: scope, Call: call, Start: time.UnixMilli(row.Start), Amount: money.Amount(row.Amount)}
	return false, t.settle(ctx, h, h.Amount, model.Usage{})
}
