package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/money"
)

// budgetCommands are the commands about what model calls may cost. They read and write the table themselves, as those of agency.
type budgetCommands struct {
	Table string `help:"The stack's table; asked from steadfast dev when not given." env:"TABLE_NAME" placeholder:"NAME"`

	Show budgetShow `cmd:"" help:"Show budgets and what their windows have spent."`
	Set  budgetSet  `cmd:"" help:"Set what a scope may spend, or replace it; takes 15 s at most."`
	Drop budgetDrop `cmd:"" help:"Remove a budget; takes 15 s at most."`
}

func (b budgetCommands) stack(ctx context.Context, c *cli) (agencyStack, error) {
	return agencyCommands{Table: b.Table}.stack(ctx, c)
}

type budgetShow struct {
	Scope []string `arg:"" optional:"" help:"stack, type:<agent type> or agent:<type>/<agent>. Without one, the stack and every agent type."`
}

// budgetView is a budget with its present window; dollars as text.
type budgetView struct {
	Scope        string           `json:"scope"`
	Limit        string           `json:"limit"`
	Period       money.Period     `json:"period"`
	Spent        string           `json:"spent"`
	Held         string           `json:"held"`
	Calls        int64            `json:"calls"`
	InputTokens  int64            `json:"inputTokens"`
	OutputTokens int64            `json:"outputTokens"`
	Until        contract.Instant `json:"until"`
}

// Run implements the command.
func (b budgetShow) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	for _, scope := range b.Scope {
		if err := checkScope(scope); err != nil {
			return err
		}
	}
	st, err := c.Budget.stack(ctx, c)
	if err != nil {
		return err
	}
	if len(b.Scope) == 0 {
		b.Scope = []string{money.Stack}
		for _, kind := range st.hosted {
			b.Scope = append(b.Scope, money.AgentType(kind.Name()))
		}
	}
	found, err := st.table.Budgets(ctx, b.Scope...)
	if err != nil {
		return err
	}
	all := []budgetView{}
	for _, one := range found {
		w, err := st.table.BudgetWindow(ctx, one)
		if err != nil {
			return err
		}
		_, end := one.Period.Window(w.Start)
		all = append(all, budgetView{one.Scope, one.Limit.String(), one.Period, w.Spent.String(), w.Held().String(), w.Calls, w.Input, w.Output, contract.At(end)})
	}
	if s.json {
		return s.answer(map[string]any{"budgets": all}, "")
	}
	if len(all) == 0 {
		s.note("no budget for %s", strings.Join(b.Scope, ", "))
	}
	for _, v := range all {
		s.print(nil, "%s  %s of %s for a %s, %s held, until %s; %d calls, %d tokens in, %d out",
			v.Scope, v.Spent, v.Limit, v.Period, v.Held, v.Until, v.Calls, v.InputTokens, v.OutputTokens)
	}
	return nil
}

// checkScope refuses what can have no budget, so that a slip of the hand does not look like one that is not there.
func checkScope(scope string) error {
	return money.Budget{Scope: scope, Period: money.Day}.Check()
}

type budgetSet struct {
	Scope string  `arg:"" help:"stack, type:<agent type> or agent:<type>/<agent>."`
	Limit float64 `arg:"" help:"US dollars for each window."`
	Per   string  `help:"The window: hour, day, week or month, in UTC." default:"day" enum:"hour,day,week,month"`
}

// maxBudget is the largest limit, in dollars: an amount has room for nine billion.
const maxBudget = 1e9

// Run implements the command.
func (b budgetSet) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	if !(b.Limit >= 0 && b.Limit <= maxBudget) {
		return &client.Error{Code: string(fault.Invalid), Message: fmt.Sprintf("the limit must be from 0 to %.0f dollars", maxBudget)}
	}
	set := money.Budget{Scope: b.Scope, Limit: money.Dollars(b.Limit), Period: money.Period(b.Per)}
	if err := set.Check(); err != nil {
		return err
	}
	st, err := c.Budget.stack(ctx, c)
	if err != nil {
		return err
	}
	if err := st.table.SetBudget(ctx, set); err != nil {
		return err
	}
	return s.answer(map[string]string{"scope": set.Scope, "limit": set.Limit.String(), "period": b.Per},
		"%s may spend %s for a %s", set.Scope, set.Limit, set.Period)
}

type budgetDrop struct {
	Scope string `arg:"" help:"Whose budget."`
}

// Run implements the command.
func (b budgetDrop) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	if err := checkScope(b.Scope); err != nil {
		return err
	}
	st, err := c.Budget.stack(ctx, c)
	if err != nil {
		return err
	}
	if err := st.table.DropBudget(ctx, b.Scope); err != nil {
		return err
	}
	return s.answer(map[string]string{"scope": b.Scope}, "%s has no budget", b.Scope)
}
