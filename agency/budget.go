package agency

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Budget bounds what agents may spend. It is asked once the cap has let a task pass and before its handler runs: a task that it refuses
// ends FAILED and has not begun. What a handler's calls cost is its model's affair: a loop.Meter with the scopes of the Spender reserves
// and settles against the same budgets.
type Budget interface {
	// Admit reports whether the spender may begin. Safe to repeat for one task. Faults: Limit when it may not, Unavailable.
	Admit(ctx context.Context, s Spender) error
}

// Spender is who wants to spend: a budget may bound a type, an agent, or both.
type Spender struct{ AgentType, AgentID, TaskID string }

// Scopes are those of the budgets that bound the spender: the stack's, the type's, the agent's.
func (s Spender) Scopes() []string {
	return []string{money.Stack, money.AgentType(s.AgentType), money.Agent(s.AgentType + "/" + s.AgentID)}
}

// TableBudget asks the budgets in a table: a task does not begin while one of its scopes has nothing left. It is a plain value, safe for
// concurrent use.
type TableBudget struct{ Table store.Table }

// Admit implements Budget. Faults: Limit with the end of the window, Unavailable.
func (b TableBudget) Admit(ctx context.Context, s Spender) error {
	budgets, err := b.Table.Budgets(ctx, s.Scopes()...)
	if err != nil {
		return err
	}
	for _, one := range budgets {
		w, err := b.Table.BudgetWindow(ctx, one)
		if err != nil {
			return err
		}
		if w.Committed >= one.Limit {
			return one.Exceeded(0, b.now())
		}
	}
	return nil
}

func (b TableBudget) now() time.Time {
	if b.Table.Now == nil {
		return time.Now()
	}
	return b.Table.Now()
}
