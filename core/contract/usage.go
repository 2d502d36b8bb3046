package contract

import "github.com/steadfast-agents/steadfast/core/model"

// Usage is what a turn or task used. CostUSD is absent when the price is not known.
type Usage struct {
	InputTokens      int      `json:"inputTokens" dynamodbav:"inputTokens"`
	OutputTokens     int      `json:"outputTokens" dynamodbav:"outputTokens"`
	CacheReadTokens  int      `json:"cacheReadTokens" dynamodbav:"cacheReadTokens"`
	CacheWriteTokens int      `json:"cacheWriteTokens" dynamodbav:"cacheWriteTokens"`
	CostUSD          *float64 `json:"costUsd,omitempty" dynamodbav:"costUsd,omitempty"`
}

// Total is the number of all tokens.
func (u Usage) Total() int {
	return u.InputTokens + u.OutputTokens + u.CacheReadTokens + u.CacheWriteTokens
}

// UsageOf is a model's usage as it crosses the boundary.
func UsageOf(u model.Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
		CostUSD: u.CostUSD(),
	}
}
