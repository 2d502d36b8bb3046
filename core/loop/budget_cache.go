package loop

import (
	"context"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/money"
)

// BudgetCache remembers which budgets scopes have, for a while, so that a call without a budget costs no read. The zero value is ready.
// It is safe for concurrent use.
type BudgetCache struct {
	Now func() time.Time // nil: time.Now

	mu   sync.Mutex
	read map[string]readBudgets
}

// BudgetsFresh is how long a budget that was read counts: one that is set or changed holds for calls that begin this much later.
const BudgetsFresh = 15 * time.Second

type readBudgets struct {
	at      time.Time
	budgets []money.Budget
}

func (l *BudgetCache) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

func (l *BudgetCache) of(ctx context.Context, ledger Ledger, scopes []string) (all []money.Budget, err error) {
	now := l.now()
	var stale []string
	l.mu.Lock()
	for _, s := range scopes {
		if r, ok := l.read[s]; ok && now.Sub(r.at) < BudgetsFresh {
			all = append(all, r.budgets...)
		} else {
			stale = append(stale, s)
		}
	}
	l.mu.Unlock()
	if len(stale) == 0 {
		return all, nil
	}
	budgets, err := ledger.Budgets(ctx, stale...)
	if err != nil {
		return nil, err
	}
	l.keep(now, stale, budgets)
	return append(all, budgets...), nil
}

func (l *BudgetCache) keep(now time.Time, scopes []string, budgets []money.Budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read == nil || len(l.read) > 1000 {
		l.read = map[string]readBudgets{}
	}
	for _, s := range scopes {
		r := readBudgets{at: now}
		for _, b := range budgets {
			if b.Scope == s {
				r.budgets = append(r.budgets, b)
			}
		}
		l.read[s] = r
	}
}
