package money_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
)

func TestOf(t *testing.T) {
	tests := []struct {
		name, id string
		input    float64 // 0: no price
	}{
		{"region prefix without a surcharge", "us.amazon.nova-lite-v1:0", 0.06},
		{"bare id", "amazon.nova-lite-v1:0", 0.06},
		{"global profile", "global.anthropic.claude-haiku-4-5-20251001-v1:0", 1},
		{"geographic profile costs more", "eu.anthropic.claude-haiku-4-5-20251001-v1:0", 1.1},
		{"ARN of a profile", "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-micro-v1:0", 0.035},
		{"another version is another model", "amazon.nova-lite-v12:0", 0},
		{"unknown", "acme.best-model", 0},
		{"empty", "", 0},
		{"application profile", "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			price, ok := money.Default().Of(tt.id)
			if ok != (tt.input != 0) || ok && (price.Input < tt.input-1e-9 || price.Input > tt.input+1e-9) {
				t.Errorf("Of(%q) = %+v, %v, want input %v", tt.id, price, ok, tt.input)
			}
		})
	}
}

func TestAFileComesBeforeTheList(t *testing.T) {
	file, err := money.Parse([]byte(`{"eu.amazon.nova-lite-v1:0": {"input": 9, "output": 1}, "amazon.nova-pro": {"input": 7, "output": 1}, "local": {"input": 0, "output": 0}}`))
	if err != nil {
		t.Fatal(err)
	}
	prices := money.Default().With(file)
	for id, want := range map[string]float64{"eu.amazon.nova-lite-v1:0": 9, "us.amazon.nova-lite-v1:0": 0.06, "amazon.nova-pro-v1:0": 0.80, "amazon.nova-pro-v2:0": 7} {
		if got, ok := prices.Of(id); !ok || got.Input != want {
			t.Errorf("Of(%s) = %v, %v, want %v", id, got.Input, ok, want)
		}
	}
	if cost, ok := prices.Cost("local", model.Usage{InputTokens: 5}); !ok || cost != 0 {
		t.Errorf("a free model costs %v, %v; want a known price of nothing", cost, ok)
	}
}

func TestParseNamesEachWrongEntry(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"negative", `{"a": {"input": -1, "output": 1}, "b": {"input": 1, "output": 1, "cacheRead": -2}}`, "a.input, b.cacheRead"},
		{"unknown field", `{"a": {"in": 1}}`, "prices"},
		{"not an object", `[1]`, "prices"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := money.Parse([]byte(tt.file))
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse = %v, want an Invalid fault naming %q", err, tt.want)
			}
		})
	}
}

func TestCost(t *testing.T) {
	price, _ := money.Default().Of("anthropic.claude-haiku-4-5-20251001-v1:0")
	used := model.Usage{InputTokens: 1000, OutputTokens: 200, CacheReadTokens: 10_000, CacheWriteTokens: 100}
	// 1000 at $1, 200 at $5, 10000 at $0.10, 100 at $1.25, each for a million
	if got, want := price.Cost(used), money.Dollars(0.003125); got != want {
		t.Errorf("cost %v, want %v", got, want)
	}
	if got := (money.Price{Input: 0.035}).Cost(model.Usage{InputTokens: 1}); got != 35 {
		t.Errorf("one token costs %d billionths, want 35", got)
	}
	if low, high := price.Cost(model.Usage{InputTokens: 250, OutputTokens: 100}), price.Ceiling(1000, 100); low >= high {
		t.Errorf("ceiling %v of 1000 bytes is not over the cost of 250 tokens, %v", high, low)
	}
}

func TestWindow(t *testing.T) {
	now := time.Date(2026, 3, 1, 1, 30, 0, 0, time.FixedZone("", 2*3600)) // a Saturday in UTC, 28 February, 23:30
	tests := []struct{ period, start, end string }{
		{"hour", "2026-02-28T23:00:00Z", "2026-03-01T00:00:00Z"},
		{"day", "2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"week", "2026-02-23T00:00:00Z", "2026-03-02T00:00:00Z"},
		{"month", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.period, func(t *testing.T) {
			start, end := money.Period(tt.period).Window(now)
			if got := start.Format(time.RFC3339); got != tt.start {
				t.Errorf("start %s, want %s", got, tt.start)
			}
			if got := end.Format(time.RFC3339); got != tt.end {
				t.Errorf("end %s, want %s", got, tt.end)
			}
		})
	}
	if start, _ := money.Week.Window(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)); start.Day() != 23 { // a Sunday
		t.Errorf("Sunday's week starts on the %dth, want the 23rd", start.Day())
	}
}

func TestCheckBudget(t *testing.T) {
	tests := []struct {
		name   string
		budget money.Budget
		wrong  string
	}{
		{"stack", money.Budget{Scope: money.Stack, Limit: 1, Period: money.Day}, ""},
		{"agent", money.Budget{Scope: money.Agent("ada"), Period: money.Month}, ""},
		{"agent type", money.Budget{Scope: money.AgentType("reviewer"), Period: money.Week}, ""},
		{"no name", money.Budget{Scope: "agent:", Period: money.Day}, "scope"},
		{"unknown kind", money.Budget{Scope: "team:x", Period: money.Day}, "scope"},
		{"empty", money.Budget{Period: money.Day}, "scope"},
		{"long", money.Budget{Scope: money.Agent(strings.Repeat("a", 260)), Period: money.Day}, "scope"},
		{"negative", money.Budget{Scope: money.Stack, Limit: -1, Period: money.Day}, "limit"},
		{"period", money.Budget{Scope: money.Stack, Period: "year"}, "period"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.budget.Check()
			if tt.wrong == "" && err != nil || tt.wrong != "" && (!fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), tt.wrong)) {
				t.Errorf("Check = %v, want fault about %q", err, tt.wrong)
			}
		})
	}
}

func TestAmountShowsWhatItHas(t *testing.T) {
	for amount, want := range map[money.Amount]string{0: "$0.00", 1_500_000_000: "$1.50", 21_000: "$0.000021", -250_000_000: "-$0.25", 1: "$0.000000001"} {
		if got := amount.String(); got != want {
			t.Errorf("%d: %s, want %s", amount, got, want)
		}
	}
}

// TestNothingOverflows: what is absurdly much is much, and never a negative amount, of which a budget would have room for any number.
func TestNothingOverflows(t *testing.T) {
	price := money.Price{Input: 1e5, Output: 1e5}
	for _, n := range []int{1_000_000_000, math.MaxInt32, math.MaxInt64 / 2, math.MaxInt64} {
		for name, got := range map[string]money.Amount{
			"ceiling of output": price.Ceiling(0, n), "ceiling of input": price.Ceiling(n, 0), "cost": price.Cost(model.Usage{InputTokens: n, OutputTokens: n, CacheReadTokens: n, CacheWriteTokens: n}),
		} {
			if got < money.Dollars(1e6) || got > money.Most || got+got < got {
				t.Errorf("%s of %d tokens is %v", name, n, got)
			}
		}
	}
	if got := money.Dollars(-1e300); got != -money.Most {
		t.Errorf("Dollars(-1e300) = %d", got)
	}
}
