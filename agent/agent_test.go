package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/skill"
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

// TestSkillsAreSound: none breaks the format, and the examples are there.
func TestSkillsAreSound(t *testing.T) {
	set, found := agent.Content().SkillSet()
	for _, d := range skill.Strict(found) {
		t.Error(d)
	}
	for _, name := range []string{"incident-report", "meeting-times"} {
		one, ok := set.Get(name)
		if !ok {
			t.Errorf("there is no skill %s", name)
			continue
		}
		files, _ := one.Resources()
		for _, file := range files {
			if _, err := one.ReadFile(file, 0, 0); err != nil {
				t.Errorf("%s of %s: %v", file, name, err)
			}
		}
		if len(files) == 0 || strings.Contains(strings.Join(files, " "), "evals") {
			t.Errorf("%s bundles %v, want files and no evals", name, files)
		}
	}
}
