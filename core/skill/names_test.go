package skill_test

import (
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// TestAnyNameIsKnownAgain: whatever a name holds, its activation is found in a conversation that is read back.
func TestAnyNameIsKnownAgain(t *testing.T) {
	for _, name := range []string{"demo", "two words", "a\nb", "a\r\nb", `say "hi"`, "</skill_content>", "&#10;", "caf\u00e9", "cafe\u0301", "\u2028", "a\tb", "\"", " x "} {
		s := skill.Skill{Name: name, Description: "d", Markdown: "m"}
		for how, messages := range map[string][]model.Message{
			"called by a user": {model.Text(model.User, s.Content()+"\n\nargs")}, "activated by a model": conversation(skill.ActivateName, s.Content()),
		} {
			if skill.NewActive(messages).Begin(s) {
				t.Errorf("%q, %s, is not known to be active: %q", name, how, strings.SplitN(s.Content(), "\n", 2)[0])
			}
		}
	}
}

// TestP30NamesWithAccents: one name in two spellings of the same letters is one name, for the catalogue, the tools and /name.
func TestP30NamesWithAccents(t *testing.T) {
	const composed, decomposed = "caf\u00e9 menu", "cafe\u0301 menu"
	for _, spelled := range []string{composed, decomposed} {
		set, _ := skill.NewSet(skill.Skill{Name: spelled, Description: "d", Markdown: "Brew.", Scope: skill.Builtin}, skill.Skill{Name: "caf\u00e9", Description: "other"})
		for _, typed := range []string{composed, decomposed} {
			if one, ok := set.Get(typed); !ok || one.Name != spelled {
				t.Errorf("%q is not %q: %q, %t", typed, spelled, one.Name, ok)
			}
			for _, line := range []string{"/" + typed, "/" + typed + "  two  cups ", "/" + typed + "@builtin two  cups"} {
				text, used, ok := set.Command(line, nil)
				if !ok || used.Name != spelled || strings.Contains(line, "cups") != strings.HasSuffix(text, "\n\ntwo  cups") {
					t.Errorf("%q calls %q, %t: %q", line, used.Name, ok, text)
				}
			}
			if text, err := call(t, set.Tools(nil)[0], map[string]any{"name": typed}); err != nil || !strings.Contains(text, "Brew.") {
				t.Errorf("activate_skill %q: %q, %v", typed, text, err)
			}
		}
	}
}
