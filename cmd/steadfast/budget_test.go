package main

import (
	"strings"
	"testing"
)

// TestBudgetRefusesWhatIsNone: before anything is asked of a stack.
func TestBudgetRefusesWhatIsNone(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"a scope of no kind", []string{"set", "team:x", "1"}, "want stack, agent:<id> or type:<agent type>"},
		{"a scope of no kind, shown", []string{"show", "typ:reviewer"}, "want stack, agent:<id> or type:<agent type>"},
		{"a scope of no kind, dropped", []string{"drop", "typ:reviewer"}, "want stack, agent:<id> or type:<agent type>"},
		{"less than nothing", []string{"set", "stack", "--", "-1"}, "the limit must be from 0 to 1000000000 dollars"},
		{"more than an amount holds", []string{"set", "stack", "1e10"}, "the limit must be from 0 to 1000000000 dollars"},
		{"no number", []string{"set", "stack", "much"}, "limit"},
		{"no window", []string{"set", "stack", "1", "--per", "year"}, "--per"},
		{"a stack whose table nobody knows", []string{"show", "--url", "https://example.com"}, "which table? Give --table or TABLE_NAME"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := at(t)("")
			r.run(t, 1, append([]string{"budget"}, tt.args...)...)
			if got := r.err.String(); !strings.Contains(got, tt.want) {
				t.Errorf("stderr = %q, want %q in it", got, tt.want)
			}
		})
	}
}
