package loop

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
)

// Ledger keeps budgets, as the store's table does.
type Ledger interface {
	// Budgets are those set for the scopes.
	Budgets(ctx context.Context, scopes ...string) ([]money.Budget, error)
	// Reserve holds the amount in each budget, or in none: a Limit fault with the reason money.OverBudget says which has no room.
	Reserve(ctx context.Context, call string, amount money.Amount, budgets []money.Budget) ([]money.Hold, error)
	// Settle replaces holds by what was spent. A hold that is gone is left alone.
	Settle(ctx context.Context, holds []money.Hold, spent money.Amount, usage model.Usage) error
}

// Meter is a model under budgets: it reserves before each call the most that it can cost, and settles what it cost. A process that
// dies in between leaves a hold, which the sweep counts as spent. It is safe for concurrent use.
type Meter struct {
	Model     Model
	ID        string // of the model, for its price
	MaxTokens int    // of output where a request names no limit, of which the model is told under a budget; default the model's own if it is Defaulted, else DefaultMaxTokens
	Prices    money.Prices
	Ledger    Ledger
	Scopes    []string
	NewID     func() string // of a call: unique
	Recent    *BudgetCache  // nil: budgets are read at each call
}

// Defaults are the model's, with the meter's MaxTokens before.
func (m Meter) Defaults() (maxTokens int, temperature *float64) {
	if d, ok := m.Model.(Defaulted); ok {
		maxTokens, temperature = d.Defaults()
	}
	return or(m.MaxTokens, maxTokens), temperature
}

// Cost prices usage of the model that a request named, "" for the meter's own; ok is false if its price is not known.
func (m Meter) Cost(modelID string, used model.Usage) (cost money.Amount, ok bool) {
	return m.Prices.Cost(cmp.Or(modelID, m.ID), used)
}

// Stream is Model's. Besides the model's faults: Limit with the reason money.OverBudget or money.NoPrice, before anything is asked of the
// model; Unavailable.
func (m Meter) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		c, err := m.reserve(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { m.settle(ctx, c) }()
		if len(c.holds) > 0 {
			req.MaxTokens = c.output // what was reserved is the most
		}
		for event, err := range m.Model.Stream(ctx, req) {
			c.tally.add(event)
			if !yield(m.priced(event, req.ModelID), err) {
				return
			}
		}
	}
}

// priced is an event with what it reports to have used priced, where that is known.
func (m Meter) priced(event model.Event, modelID string) model.Event {
	report, ok := event.(model.UsageReport)
	if !ok {
		return event
	}
	cost, ok := m.Cost(modelID, report.Usage)
	report.Usage.Cost, report.Usage.Priced = int64(cost), ok
	return report
}

// call is one in flight.
type call struct {
	holds  []money.Hold // none: there is no budget
	price  money.Price
	input  int // bytes
	output int // tokens at most
	tally  tally
}

func (m Meter) reserve(ctx context.Context, req model.Request) (c call, err error) {
	budgets, err := m.budgets(ctx)
	if err != nil || len(budgets) == 0 {
		return c, err
	}
	id, ok := cmp.Or(req.ModelID, m.ID), false
	if c.price, ok = m.Prices.Of(id); !ok {
		return c, fault.New(fault.Limit, "model %s has no price, and %s has a budget: add it to the prices", id, budgets[0].Scope).Because(money.NoPrice)
	}
	most, _ := defaultsOf(m)
	c.input, c.output = inputBytes(req), or(req.MaxTokens, most)
	c.holds, err = m.Ledger.Reserve(ctx, m.NewID(), c.price.Ceiling(c.input, c.output), budgets)
	return c, err
}

func (m Meter) budgets(ctx context.Context) ([]money.Budget, error) {
	if m.Ledger == nil || len(m.Scopes) == 0 {
		return nil, nil
	}
	if m.Recent != nil {
		return m.Recent.of(ctx, m.Ledger, m.Scopes)
	}
	return m.Ledger.Budgets(ctx, m.Scopes...)
}

// settle also happens when the call was broken off. If it fails, the sweep counts the whole hold.
func (m Meter) settle(ctx context.Context, c call) {
	if len(c.holds) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	used := c.tally.usage(c.input)
	_ = m.Ledger.Settle(ctx, c.holds, c.price.Cost(used), used)
}

// What a service puts around the words of a request, in bytes: roles and marks of each part, and instructions on how to use tools.
const (
	framePart  = 32
	frameTools = 1200
)

// inputBytes is the size of all text in a request, and of what the service adds to it.
func inputBytes(req model.Request) int {
	n := framePart + len(req.System)
	if len(req.Tools) > 0 {
		n += frameTools
	}
	for _, t := range req.Tools {
		n += framePart + len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		n += framePart
		for _, b := range m.Content {
			n += blockBytes(b)
		}
	}
	return n
}

func blockBytes(b model.Block) int {
	n := framePart + len(b.Text) + len(b.Raw)
	if b.ToolUse != nil {
		n += len(b.ToolUse.Name) + len(b.ToolUse.Input)
	}
	if b.ToolResult != nil {
		for _, part := range b.ToolResult.Content {
			n += len(part.Text) + len(part.JSON) + len(part.Raw)
		}
	}
	if b.Reasoning != nil {
		n += len(b.Reasoning.Text) + len(b.Reasoning.Signature) + len(b.Reasoning.Redacted)
	}
	return n
}

// tally adds up what a stream reports, and what it wrote in case it never reports.
type tally struct {
	reported    model.Usage
	known, some bool
	written     int // bytes
}

func (t *tally) add(e model.Event) {
	switch e := e.(type) {
	case nil:
		return
	case model.UsageReport:
		t.reported, t.known = t.reported.Add(e.Usage), true
	case model.TextDelta:
		t.written += len(e.Text)
	case model.ReasoningDelta:
		t.written += len(e.Text) + len(e.Redacted)
	case model.ToolInput:
		t.written += len(e.JSON)
	}
	t.some = true
}

// usage is what was reported; of a call that was cut before it reported, an estimate from above; nothing of one that never began.
func (t *tally) usage(inputBytes int) model.Usage {
	if t.known || !t.some {
		return t.reported
	}
	return model.Usage{InputTokens: inputBytes / 2, OutputTokens: t.written / 2}
}
