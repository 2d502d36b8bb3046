package channel_test

import (
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

func TestInbound(t *testing.T) {
	for given, want := range map[contract.Admission]contract.Admission{"": contract.Coalesce, contract.Preempt: contract.Preempt} {
		if id, got := (channel.Channel{ID: "gh", Admission: given}).Inbound(); id != "gh" || got != want {
			t.Errorf("Inbound = %s, %s, want %s", id, got, want)
		}
	}
}

func TestCheckID(t *testing.T) {
	for id, ok := range map[string]bool{
		"gh": true, "a_b-2": true, "2": true, strings.Repeat("a", 64): true, "": false, "A": false, "a#b": false, "-a": false, "é": false, strings.Repeat("a", 65): false,
	} {
		if err := channel.CheckID(id); (err == nil) != ok || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("CheckID(%q) = %v", id, err)
		}
	}
}
