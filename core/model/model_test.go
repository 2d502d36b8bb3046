package model_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/model"
)

func TestUsageAdd(t *testing.T) {
	a := model.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: math.MaxInt}
	b := model.Usage{InputTokens: 10, OutputTokens: 20, CacheReadTokens: 30, CacheWriteTokens: 1}
	want := model.Usage{InputTokens: 11, OutputTokens: 22, CacheReadTokens: 33, CacheWriteTokens: math.MaxInt}
	if diff := cmp.Diff(want, a.Add(b)); diff != "" {
		t.Errorf("Add (-want +got):\n%s", diff)
	}
}

func TestMessageParts(t *testing.T) {
	m := user(text("a"), call("1", `{}`), result("2", "x"), text("b"), call("3", `{}`))
	if got := m.Calls(); len(got) != 2 || got[0].ID != "1" || got[1].ID != "3" {
		t.Errorf("Calls = %v, want 1 and 3", got)
	}
	if got := m.Results(); len(got) != 1 || got[0].ID != "2" {
		t.Errorf("Results = %v, want 2", got)
	}
	if got := m.PlainText(); got != "ab" {
		t.Errorf("PlainText = %q, want ab", got)
	}
}
