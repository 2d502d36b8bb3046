package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// TestLooseText: a delay may be written as text or as a number, and nothing else.
func TestLooseText(t *testing.T) {
	for in, want := range map[string]string{`"15m"`: "15m", `90`: "90", `1.5`: "1.5", `""`: "", `true`: "!", `{}`: "!", `[1]`: "!"} {
		var d struct{ Delay contract.LooseText }
		err := json.Unmarshal([]byte(`{"delay":`+in+`}`), &d)
		if got := string(d.Delay); (err != nil) != (want == "!") || err == nil && got != want {
			t.Errorf("%s = %q, %v, want %q", in, got, err, want)
		}
	}
}
