package agency

import "context"

// Budget bounds what agents may spend. It is asked once the cap has let a task pass and before its handler runs: a task that it refuses
// ends FAILED and has not begun. What a handler's calls cost is its model's affair, which may reserve and settle against the same budget.
type Budget interface {
	// Admit reports whether the spender may spend. Safe to repeat for one task. Faults: Limit when it may not, Unavailable.
	Admit(ctx context.Context, s Spender) error
}

// Spender is who wants to spend: a budget may bound a type, an agent, or both.
type Spender struct{ AgentType, AgentID, TaskID string }
