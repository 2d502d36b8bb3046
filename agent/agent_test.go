package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/contract"
)

func TestContentIsSound(t *testing.T) {
	c := agent.Content()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if n := len(c.Instructions); n == 0 || n > contract.MaxPromptBytes {
		t.Errorf("instructions.md has %d bytes, want 1 to %d", n, contract.MaxPromptBytes)
	}
	if c.Instructions != strings.TrimSpace(c.Instructions) {
		t.Error("the instructions begin or end with blanks")
	}
}

// TestToolOfTheTour: the tour and the README ask for the time.
func TestToolOfTheTour(t *testing.T) {
	if names := agent.Content().Tools.Names(); !slices.Contains(names, "get_current_time") {
		t.Errorf("tools = %v, want get_current_time among them", names)
	}
}

// TestContentIsMadeAnew: what one caller does to its content does not reach another.
func TestContentIsMadeAnew(t *testing.T) {
	first := agent.Content()
	clear(first.Tools)
	if agent.Content().Validate() != nil || agent.Content().Tools[0] == nil {
		t.Error("a second Content shares its tools with the first")
	}
}
