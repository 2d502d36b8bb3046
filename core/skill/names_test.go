package skill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/tool"
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

// TestWhatAUserCallsCanBeRead: the files of a skill that only users see, and of one that another of its name shadows, are read
// once it is called, and not before.
func TestWhatAUserCallsCanBeRead(t *testing.T) {
	deploy := skill.Skill{Name: "deploy", Description: "d", Markdown: "See steps.md.", Files: map[string]string{"steps.md": "push"}, HiddenFromModel: true}
	plan := skill.Skill{Name: "plan", Description: "d", Markdown: "Plan.", Files: map[string]string{"a.md": "of the program"}, Scope: skill.Builtin}
	sent := skill.Skill{Name: "plan", Description: "d", Markdown: "Sent.", Files: map[string]string{"a.md": "of the user"}, Scope: skill.Upload}
	for what, others := range map[string][]skill.Skill{"beside others": {plan, sent}, "alone": nil} {
		set, _ := skill.NewSet(append(others, deploy)...)
		active := &skill.Active{}
		tools := set.Tools(active)
		read := tools[len(tools)-1]
		if len(others) == 0 && len(tools) != 1 {
			t.Errorf("%s: %d tools, want the one that reads", what, len(tools))
		}
		if s := string(read.Spec().Schema); strings.Contains(s, "deploy") || strings.Contains(s, "enum") {
			t.Errorf("%s: the schema lists names, and cannot list them all: %s", what, s)
		}
		if text, err := call(t, read, map[string]any{"name": "deploy", "path": "steps.md"}); err == nil {
			t.Errorf("%s: read before it is called: %q", what, text)
		}
		if _, _, ok := set.Command("/deploy now", active); !ok {
			t.Fatalf("%s: /deploy is not called", what)
		}
		if text, err := call(t, read, map[string]any{"name": "deploy", "path": "steps.md"}); err != nil || text != "push" {
			t.Errorf("%s: once it is called: %q, %v", what, text, err)
		}
		if len(others) == 0 {
			continue
		}
		if text, err := call(t, tools[0], map[string]any{"name": "deploy"}); err != nil || !strings.Contains(text, "already active") {
			t.Errorf("%s: activated once it is called: %q, %v", what, text, err)
		}
		for _, line := range []string{"/plan", "/plan@upload"} {
			text, used, _ := set.Command(line, active)
			history := []model.Message{model.Text(model.User, text)}
			for how, active := range map[string]*skill.Active{"at once": active, "after a resume": skill.NewActive(history)} {
				got, err := call(t, set.Tools(active)[1], map[string]any{"name": "plan", "path": "a.md"})
				if err != nil || got != used.Files["a.md"] {
					t.Errorf("%s, %s: %q, %v, want %q", line, how, got, err, used.Files["a.md"])
				}
			}
		}
	}
	set, _ := skill.NewSet(skill.Skill{Name: "bare", Description: "d", HiddenFromModel: true})
	if tools := set.Tools(nil); tools != nil {
		t.Errorf("nothing to activate and nothing to read, and there are %d tools", len(tools))
	}
}

// TestP30WhatACollisionSays: that the loser is reached as name@scope, if it is.
func TestP30WhatACollisionSays(t *testing.T) {
	one := func(markdown string, scope skill.Scope) skill.Skill {
		return skill.Skill{Name: "demo", Description: "d", Markdown: markdown, Scope: scope}
	}
	set, found := skill.NewSet(one("first", skill.Project), one("second", skill.Project), one("sent", skill.Upload), one("also sent", skill.Upload))
	want := []string{"not reached until it has another name", "only reached as demo@upload", "not reached until it has another name"}
	if len(found) != 3 {
		t.Fatalf("found %v", found)
	}
	for i, d := range found {
		if !strings.Contains(d.Text, want[i]) {
			t.Errorf("%s, want it to say %q", d, want[i])
		}
	}
	if got, ok := set.Get("demo@upload"); !ok || got.Markdown != "sent" {
		t.Errorf("demo@upload is %+v, %t", got, ok)
	}
}

// TestP30EveryNameIsReached: whatever names there are, each that is listed is given by Get, activated by the model, called by a user
// and known again in the history.
func TestP30EveryNameIsReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SampledFrom([]string{"a", "b", "é", "e\u0301", "ﬁ", "漢", " ", "\n", "\u00a0", "-", "/", "@", "@upload", "<", "\"", "&amp;", "A", "1"})
		name := rapid.Map(rapid.SliceOfN(parts, 1, 5), func(p []string) string { return strings.TrimSpace(strings.Join(p, "")) })
		var list []skill.Skill
		for i, n := range rapid.SliceOfN(name, 1, 6).Draw(t, "names") {
			list = append(list, skill.Skill{Name: n, Description: "d", Markdown: fmt.Sprint("body ", i), Scope: rapid.SampledFrom([]skill.Scope{skill.Builtin, skill.Upload}).Draw(t, "scope"),
				HiddenFromModel: rapid.Bool().Draw(t, "hidden from the model"), HiddenFromUser: rapid.Bool().Draw(t, "hidden from the user")})
		}
		set, _ := skill.NewSet(list...)
		for _, one := range set.All() {
			if got, ok := set.Get(one.Name); !ok || got.Markdown != one.Markdown {
				t.Fatalf("Get(%q) = %q, %t", one.Name, got.Markdown, ok)
			}
			if _, used, ok := set.Command("/"+one.Name+" !", nil); (ok && used.Markdown == one.Markdown) == one.HiddenFromUser {
				t.Fatalf("/%q calls %q, %t", one.Name, used.Markdown, ok)
			}
			if skill.NewActive([]model.Message{model.Text(model.User, one.Content())}).Begin(one) {
				t.Fatalf("%q is not known again", one.Name)
			}
		}
		for _, n := range set.ForModel() {
			one, _ := set.Get(n)
			in, err := json.Marshal(map[string]string{"name": n})
			if err != nil {
				t.Fatal(err)
			}
			text, err := set.Tools(nil)[0].Call(tool.Context{Context: context.Background()}, in)
			if err != nil || !strings.Contains(text.(string), one.Markdown) {
				t.Fatalf("activate_skill %q: %v, %v", n, text, err)
			}
		}
	})
}
