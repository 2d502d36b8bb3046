package agent_test

import (
	"testing"

	"github.com/steadfast-agents/steadfast/agent"
)

func TestContentIsSound(t *testing.T) {
	c := agent.Content()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.Instructions == "" {
		t.Error("instructions.md is empty")
	}
}
