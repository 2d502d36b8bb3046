package money_test

import (
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
)

// An operator's own prices go before the list prices; a model that neither knows has no price, which is not zero.
func ExamplePrices_Cost() {
	own, err := money.Parse([]byte(`{"amazon.nova-lite-v1": {"input": 0.05, "output": 0.20}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	prices := money.Default().With(own)
	used := model.Usage{InputTokens: 2000, OutputTokens: 500}
	for _, id := range []string{"us.amazon.nova-lite-v1:0", "amazon.nova-pro-v1:0", "my.own-model"} {
		cost, ok := prices.Cost(id, used)
		fmt.Println(id, cost, ok)
	}
	// Output:
	// us.amazon.nova-lite-v1:0 $0.0002 true
	// amazon.nova-pro-v1:0 $0.0032 true
	// my.own-model $0.00 false
}

// A call that does not fit into the window is told when the next one begins.
func ExampleBudget_Exceeded() {
	b := money.Budget{Scope: money.AgentType("reviewer"), Limit: money.Dollars(5), Period: money.Day}
	fmt.Println(b.Check())
	fmt.Println(b.Exceeded(money.Dollars(0.02), time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)))
	// Output:
	// <nil>
	// the budget type:reviewer of $5.00 for a day has no $0.02 left; the next window begins at 2026-03-02T00:00:00Z
}
