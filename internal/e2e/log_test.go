package e2e_test

import (
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/transcript"
)

// record keeps what was written. It is safe for concurrent use.
type record struct{ transcript.Transcript }

// lines gives the lines of what was written that have all the words.
func (r *record) lines(words ...string) []string {
	var out []string
	for line := range strings.Lines(r.String()) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s = %q, want %q in it", what, text, want)
		}
	}
}
