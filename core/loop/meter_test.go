package loop_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
)

// fixed is a model that says the same each time, and counts how often it is asked.
type fixed struct {
	say   []model.Event
	err   error
	asked int
	last  model.Request
}

func (e *fixed) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		e.asked++
		e.last = req
		for _, event := range e.say {
			if !yield(event, nil) {
				return
			}
		}
		if e.err != nil {
			yield(nil, e.err)
		}
	}
}

// accounts is a ledger with one budget that notes what it is told.
type accounts struct {
	budgets           []money.Budget
	reads             int
	reserved, settled []money.Amount
	used              model.Usage
}

func (b *accounts) Budgets(context.Context, ...string) ([]money.Budget, error) {
	b.reads++
	return b.budgets, nil
}

func (b *accounts) Reserve(_ context.Context, call string, amount money.Amount, budgets []money.Budget) ([]money.Hold, error) {
	if amount > budgets[0].Limit {
		return nil, budgets[0].Exceeded(amount, time.Unix(0, 0))
	}
	b.reserved = append(b.reserved, amount)
	return []money.Hold{{Scope: budgets[0].Scope, Call: call, Amount: amount}}, nil
}

func (b *accounts) Settle(ctx context.Context, _ []money.Hold, spent money.Amount, used model.Usage) error {
	b.settled, b.used = append(b.settled, spent), used
	return ctx.Err()
}

func TestMeter(t *testing.T) {
	priced := money.Prices{"m": {Input: 1, Output: 10}} // 1,000 billionths for a token of input, 10,000 for one of output
	text, usage, stop := model.TextDelta{Text: "eight by"}, model.UsageReport{Usage: model.Usage{InputTokens: 7, OutputTokens: 2}}, model.Stop{Reason: model.EndTurn}
	broken := errors.New("the line broke")
	budget := func(limit money.Amount) []money.Budget {
		return []money.Budget{{Scope: money.Stack, Limit: limit, Period: money.Day}}
	}
	const input = 3*32 + 20 // bytes, framed as request, message and block
	ceiling := priced["m"].Ceiling(input, 100)
	tests := []struct {
		name              string
		model             fixed
		budgets           []money.Budget
		id                string
		reason            string // of the fault
		asked             int
		reserved, settled []money.Amount
	}{
		{name: "no budget", model: fixed{say: []model.Event{text, usage, stop}}, id: "unpriced", asked: 1},
		{name: "settled by what is reported", model: fixed{say: []model.Event{text, usage, stop}}, budgets: budget(1e9), id: "m", asked: 1,
			reserved: []money.Amount{ceiling}, settled: []money.Amount{27_000}},
		{name: "cut before it reports: an estimate", model: fixed{say: []model.Event{text}, err: broken}, budgets: budget(1e9), id: "m", asked: 1,
			reserved: []money.Amount{ceiling}, settled: []money.Amount{input/2*1_000 + 4*10_000}},
		{name: "cut while it thinks", model: fixed{say: []model.Event{model.ReasoningDelta{Text: "eight by", Redacted: []byte("four")}}, err: broken}, budgets: budget(1e9), id: "m", asked: 1,
			reserved: []money.Amount{ceiling}, settled: []money.Amount{input/2*1_000 + 6*10_000}},
		{name: "refused at once costs nothing", model: fixed{err: broken}, budgets: budget(1e9), id: "m", asked: 1,
			reserved: []money.Amount{ceiling}, settled: []money.Amount{0}},
		{name: "no room", budgets: budget(ceiling - 1), id: "m", reason: money.OverBudget},
		{name: "no price", budgets: budget(1e9), id: "unpriced", reason: money.NoPrice},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &accounts{budgets: tt.budgets}
			m := loop.Meter{Model: &tt.model, ID: tt.id, Prices: priced, Ledger: b, Scopes: []string{money.Stack}, NewID: func() string { return "c" }}
			_, err := model.Collect(m.Stream(t.Context(), model.Request{Messages: []model.Message{model.Text(model.User, "twenty bytes of text")}, MaxTokens: 100}))
			if fault.ReasonOf(err) != tt.reason {
				t.Errorf("error %v, want reason %q", err, tt.reason)
			}
			if tt.model.asked != tt.asked {
				t.Errorf("the model was asked %d times, want %d", tt.model.asked, tt.asked)
			}
			if diff := cmp.Diff([][]money.Amount{tt.reserved, tt.settled}, [][]money.Amount{b.reserved, b.settled}); diff != "" {
				t.Errorf("reserved and settled (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReservedIsTheMost: a request without a limit of its own reserves what the model may write, and the model is held to it.
func TestReservedIsTheMost(t *testing.T) {
	stack := []money.Budget{{Scope: money.Stack, Limit: 1e9, Period: money.Day}}
	for _, tt := range []struct {
		name             string
		budgets          []money.Budget
		models, asks     int // tokens: the model's default, the request's own
		reserved, passed int
	}{
		{"the request's", stack, 30_000, 100, 100, 100},
		{"the model's", stack, 30_000, 0, 30_000, 30_000},
		{"the default", stack, 0, 0, loop.DefaultMaxTokens, loop.DefaultMaxTokens},
		{"no budget", nil, 30_000, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, says := &accounts{budgets: tt.budgets}, &fixed{say: []model.Event{model.Stop{Reason: model.EndTurn}}}
			m := loop.Meter{Model: says, ID: "m", MaxTokens: tt.models, Prices: money.Prices{"m": {Output: 1}}, Ledger: b, Scopes: []string{money.Stack}, NewID: func() string { return "c" }}
			own := m
			own.Model, own.MaxTokens = inclined{fixed: says, tokens: tt.models}, 0
			var reserved money.Amount
			for _, m := range []loop.Meter{own, m} { // a model knows its own limit
				if _, err := model.Collect(m.Stream(t.Context(), model.Request{MaxTokens: tt.asks})); err != nil {
					t.Fatal(err)
				}
				if len(b.reserved) > 0 && reserved != 0 && b.reserved[len(b.reserved)-1] != reserved {
					t.Errorf("reserved %v, then %v", reserved, b.reserved)
				}
				if len(b.reserved) > 0 {
					reserved = b.reserved[0]
				}
			}
			if reserved != money.Amount(tt.reserved*1000) || says.last.MaxTokens != tt.passed {
				t.Errorf("reserved %v and asked for %d tokens, want those of %d and %d", reserved, says.last.MaxTokens, tt.reserved, tt.passed)
			}
		})
	}
}

func TestACancelledCallIsSettled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &accounts{budgets: []money.Budget{{Scope: money.Stack, Limit: 1e9, Period: money.Day}}}
	says := &fixed{say: []model.Event{model.TextDelta{Text: "12345678"}, model.TextDelta{Text: "never read"}}}
	m := loop.Meter{Model: says, ID: "m", Prices: money.Prices{"m": {Output: 1}}, Ledger: b, Scopes: []string{money.Stack}, NewID: func() string { return "c" }}
	for range m.Stream(ctx, model.Request{}) {
		cancel()
		break
	}
	if len(b.settled) != 1 || b.settled[0] != 4_000 {
		t.Errorf("settled %v, want the estimate of the eight bytes that came", b.settled)
	}
}

func TestBudgetsAreReadOnceInAWhile(t *testing.T) {
	now := time.Unix(1000, 0)
	b := &accounts{}
	m := loop.Meter{Model: &fixed{say: []model.Event{model.Stop{Reason: model.EndTurn}}}, ID: "m", Ledger: b, Scopes: []string{money.Stack},
		NewID: func() string { return "c" }, Recent: &loop.BudgetCache{Now: func() time.Time { return now }}}
	ask := func() error {
		_, err := model.Collect(m.Stream(t.Context(), model.Request{}))
		return err
	}
	for range 3 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	if b.reads != 1 {
		t.Errorf("%d reads for three calls at one moment, want 1", b.reads)
	}
	b.budgets = []money.Budget{{Scope: money.Stack, Period: money.Day}}
	if err := ask(); err != nil {
		t.Errorf("a budget set just now: %v, want it to count later", err)
	}
	now = now.Add(loop.BudgetsFresh)
	if err := ask(); fault.ReasonOf(err) != money.NoPrice {
		t.Errorf("after %s: %v, want the budget to count", loop.BudgetsFresh, err)
	}
}

// TestUsageIsPricedByTheModelThatWasAsked: the meter's own, or the one that the request names; a sum is known where all of it is.
func TestUsageIsPricedByTheModelThatWasAsked(t *testing.T) {
	m := loop.Meter{
		Model: &fixed{say: []model.Event{model.UsageReport{Usage: model.Usage{InputTokens: 7}}, model.Stop{Reason: model.EndTurn}}}, ID: "m",
		Prices: money.Prices{"m": {Input: 1}, "other": {Input: 2}, "free": {}},
	}
	ask := func(id string) model.Usage {
		t.Helper()
		reply, err := model.Collect(m.Stream(t.Context(), model.Request{ModelID: id}))
		if err != nil {
			t.Fatal(err)
		}
		return reply.Usage
	}
	tests := []struct {
		name string
		ids  []string
		want string
	}{
		{"its own", []string{""}, "$0.000007"},
		{"another", []string{"other"}, "$0.000014"},
		{"both", []string{"", "other"}, "$0.000021"},
		{"a free one", []string{"free", ""}, "$0.000007"},
		{"one without a price", []string{"", "unknown", ""}, "not known"},
		{"none", nil, "not known"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var all model.Usage
			for _, id := range tt.ids {
				all = all.Add(ask(id))
			}
			got := "not known"
			if cost := all.CostUSD(); cost != nil {
				got = money.Dollars(*cost).String()
			}
			if got != tt.want {
				t.Errorf("cost %s, want %s", got, tt.want)
			}
		})
	}
}
