package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// TestUsageOfTasks: tasks that asked no model count for nothing; one whose price is not known makes that of all unknown.
func TestUsageOfTasks(t *testing.T) {
	asked := func(in int, dollars *float64) agentTask {
		return agentTask{Usage: &contract.Usage{InputTokens: in, OutputTokens: 1, CacheReadTokens: 2, CacheWriteTokens: 3, CostUSD: dollars}}
	}
	for _, tt := range []struct {
		name  string
		tasks []agentTask
		want  *contract.Usage
		cost  string
	}{
		{"none", nil, nil, "-"},
		{"no model", []agentTask{{}, {}}, nil, "-"},
		{"one", []agentTask{{}, asked(10, new(0.25))}, asked(10, new(0.25)).Usage, "$0.25"},
		{"free", []agentTask{asked(10, new(0.0))}, asked(10, new(0.0)).Usage, "$0.00"},
		{"three", []agentTask{asked(10, new(0.25)), asked(20, new(0.5)), {}, asked(30, new(0.0))},
			&contract.Usage{InputTokens: 60, OutputTokens: 3, CacheReadTokens: 6, CacheWriteTokens: 9, CostUSD: new(0.75)}, "$0.75"},
		{"one without a price", []agentTask{asked(10, nil), asked(20, new(0.5))},
			&contract.Usage{InputTokens: 30, OutputTokens: 2, CacheReadTokens: 4, CacheWriteTokens: 6}, "not known"},
	} {
		got := usageOf(tt.tasks)
		if diff := cmp.Diff(tt.want, got); diff != "" || costOf(got) != tt.cost {
			t.Errorf("%s: cost %s, want %s (-want +got):\n%s", tt.name, costOf(got), tt.cost, diff)
		}
		if text := usageText(got); (text == "") != (got == nil) || got != nil && got.CostUSD != nil && !strings.HasSuffix(text, ", "+tt.cost) {
			t.Errorf("%s: %q in words", tt.name, text)
		}
	}
}

// TestWoken: a gate that was passed says when, and until when it is shut; one that is passed ahead of time says that.
func TestWoken(t *testing.T) {
	at := time.Date(2026, 1, 5, 15, 0, 0, 0, time.UTC)
	g := agency.GateState{At: at, Until: at.Add(15 * time.Minute)}
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{
		{-time.Minute, "review waits for the end of the cooldown, 2026-01-05T15:00:00.000Z"},
		{time.Minute, "review 2026-01-05T15:00:00.000Z, cooldown until 2026-01-05T15:15:00.000Z"},
		{time.Hour, "review 2026-01-05T15:00:00.000Z"},
	} {
		if got := woken("review", g, at.Add(tt.after)); got != tt.want {
			t.Errorf("after %s: %q, want %q", tt.after, got, tt.want)
		}
	}
}

// TestRoutedInWords: why there is no task, and until when.
func TestRoutedInWords(t *testing.T) {
	for _, tt := range []struct {
		made routed
		want string
	}{
		{routed{Decision: "requested"}, "requested"},
		{routed{Decision: "requested", RunAt: "2026-01-05T15:24:15.000Z"}, "requested for 2026-01-05T15:24:15.000Z"},
		{routed{Decision: "cooldown", Until: "2026-01-05T15:15:00.000Z"}, "cooldown until 2026-01-05T15:15:00.000Z"},
		{routed{Decision: "declined", Reason: "on leave"}, "declined: on leave"},
		{routed{Decision: "paused"}, "paused"},
	} {
		if got := tt.made.says(); got != tt.want {
			t.Errorf("%+v says %q, want %q", tt.made, got, tt.want)
		}
	}
}
