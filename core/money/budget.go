package money

import (
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Stack is the scope of everything that one table's functions spend. Agent and AgentType name the others.
const Stack = "stack"

// AgentType is the scope of all agents of a type.
func AgentType(name string) string { return "type:" + name }

// Agent is the scope of one agent.
func Agent(id string) string { return "agent:" + id }

// Period says how long a budget's window is. Windows begin in UTC: on the hour, at midnight, on Monday, on the first.
type Period string

// The periods.
const (
	Hour  Period = "hour"
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// Window is the window that holds now: start included, end not.
func (p Period) Window(now time.Time) (start, end time.Time) {
	now = now.UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch p {
	case Hour:
		start = now.Truncate(time.Hour)
		return start, start.Add(time.Hour)
	case Week:
		start = midnight.AddDate(0, 0, -(int(now.Weekday())+6)%7)
		return start, start.AddDate(0, 0, 7)
	case Month:
		start = midnight.AddDate(0, 0, 1-now.Day())
		return start, start.AddDate(0, 1, 0)
	}
	return midnight, midnight.AddDate(0, 0, 1)
}

// Budget is a limit for what a scope may spend in each window.
type Budget struct {
	Scope  string // Stack, AgentType(...), Agent(...)
	Limit  Amount
	Period Period
}

// MaxScope is the longest scope in bytes.
const MaxScope = 256

// Check reports what is wrong with a budget. Faults: Invalid.
func (b Budget) Check() error {
	kind, name, named := strings.Cut(b.Scope, ":")
	switch {
	case len(b.Scope) > MaxScope:
		return fault.New(fault.Invalid, "scope: %d bytes, the limit is %d", len(b.Scope), MaxScope)
	case b.Scope != Stack && (!named || name == "" || kind != "agent" && kind != "type"):
		return fault.New(fault.Invalid, "scope %q: want stack, agent:<id> or type:<agent type>", b.Scope)
	case b.Limit < 0:
		return fault.New(fault.Invalid, "limit %s: want no less than $0", b.Limit)
	}
	switch b.Period {
	case Hour, Day, Week, Month:
		return nil
	}
	return fault.New(fault.Invalid, "period %q: want hour, day, week or month", b.Period)
}

// Hold is what one call in flight has reserved of one budget's window.
type Hold struct {
	Scope  string
	Call   string
	Start  time.Time // of the window
	Amount Amount
}

// Window is what a scope spent and reserved in one window.
type Window struct {
	Start     time.Time
	Spent     Amount
	Committed Amount // spent and held
	Calls     int64  // settled
	Input     int64  // tokens, cached ones included
	Output    int64  // tokens
}

// Held is what calls in flight have reserved.
func (w Window) Held() Amount { return w.Committed - w.Spent }

// OverBudget is the reason of the Limit fault of a call that a budget has no room for, NoPrice of one whose model has no price.
const (
	OverBudget = "over_budget"
	NoPrice    = "no_price"
)

// Exceeded is the fault of a call that does not fit into a budget's window.
func (b Budget) Exceeded(wanted Amount, now time.Time) error {
	_, end := b.Period.Window(now)
	return fault.New(fault.Limit, "the budget %s of %s for a %s has no %s left; the next window begins at %s",
		b.Scope, b.Limit, b.Period, wanted, end.Format(time.RFC3339)).Because(OverBudget)
}
