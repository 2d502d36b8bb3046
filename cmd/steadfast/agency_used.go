package main

import (
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/money"
)

// costOf is what a usage cost: "-" where no model was asked.
func costOf(u *contract.Usage) string {
	switch {
	case u == nil:
		return "-"
	case u.CostUSD == nil:
		return "not known"
	}
	return money.Dollars(*u.CostUSD).String()
}

// usageText is a usage in words; "" where no model was asked.
func usageText(u *contract.Usage) string {
	if u == nil {
		return ""
	}
	return tokens(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens) + cost(u.CostUSD)
}

// usageOf adds up what tasks used; nil if no model was asked. The cost is known where that of all is.
func usageOf(tasks []agentTask) *contract.Usage {
	var all *contract.Usage
	for _, t := range tasks {
		switch u := t.Usage; {
		case u == nil:
		case all == nil:
			all = new(*u)
		default:
			sum := *all
			sum.InputTokens, sum.OutputTokens = sum.InputTokens+u.InputTokens, sum.OutputTokens+u.OutputTokens
			sum.CacheReadTokens, sum.CacheWriteTokens = sum.CacheReadTokens+u.CacheReadTokens, sum.CacheWriteTokens+u.CacheWriteTokens
			if sum.CostUSD = nil; all.CostUSD != nil && u.CostUSD != nil {
				sum.CostUSD = new(*all.CostUSD + *u.CostUSD)
			}
			all = &sum
		}
	}
	return all
}
