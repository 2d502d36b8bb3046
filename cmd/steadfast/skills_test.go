package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// skillFolder is a working folder with skills: name of the file and its text.
func skillFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSkillsList(t *testing.T) {
	start := at(t)
	skillFolder(t, map[string]string{
		"agent/skills/refund/SKILL.md": "---\nname: refund\ndescription: Use when: money is asked back.\n---\nAsk.", "agent/skills/refund/references/terms.md": "terms",
		"agent/skills/broken/SKILL.md": "---\nname: broken\n---\nNo description.", "agent/skills/tone.md": "Be kind.",
		"p/.agents/skills/refund/SKILL.md": "---\nname: refund\ndescription: Of the project.\n---\nAsk.",
	})
	const table = "SKILL   FROM     PATH                          DESCRIPTION\n" +
		"refund  builtin  agent/skills/refund/SKILL.md  Use when: money is asked back.\n" +
		"tone    builtin  agent/skills/tone.md          Be kind.\n"
	const broken = "agent/skills/broken/SKILL.md:1: error: the description is missing (desc-missing)\n"
	const repaired = "the metadata is not YAML (mapping values are not allowed in this context); it was read field by field. Put values with a colon or a special sign in quotes"

	r := start("")
	r.run(t, 0, "skills", "list")
	same(t, "list", r.out.String(), table+broken+"agent/skills/refund/SKILL.md:3: warning: "+repaired+" (yaml-repaired)\n")

	r = start("")
	r.run(t, 1, "skills", "list", "--strict")
	same(t, "strict list", r.out.String(), table+broken+"agent/skills/refund/SKILL.md:3: error: "+repaired+" (yaml-invalid)\n")
	same(t, "strict error", r.err.String(), "steadfast: 2 errors in skills\n")

	r = start("")
	r.run(t, 0, "skills", "list", "--project", "p")
	if got := r.out.String(); !strings.Contains(got, "p/.agents/skills/refund/SKILL.md: error: the project is not trusted") || strings.Contains(got, "Of the project") {
		t.Errorf("untrusted: %s", got)
	}
	r = start("")
	r.run(t, 1, "skills", "list", "--project", "nowhere")
	r = start("")
	r.run(t, 0, "--json", "skills", "list", "--project", "p", "--trust")
	var got struct {
		Skills []struct {
			Name, Scope string
			Shadowed    bool
			Files       []string
		}
		Diagnostics []struct{ Code, Path, Other string }
	}
	if err := json.Unmarshal([]byte(r.out.String()), &got); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, s := range got.Skills {
		rows = append(rows, strings.Join(append([]string{s.Name, s.Scope, map[bool]string{true: "shadowed"}[s.Shadowed]}, s.Files...), " "))
	}
	if diff := cmp.Diff([]string{"refund project ", "tone builtin ", "refund builtin shadowed references/terms.md"}, rows); diff != "" {
		t.Errorf("trusted (-want +got):\n%s", diff)
	}
	if last := got.Diagnostics[len(got.Diagnostics)-1]; last.Code != "name-collision" || last.Path != "agent/skills/refund/SKILL.md" || last.Other != "p/.agents/skills/refund/SKILL.md" {
		t.Errorf("the collision: %+v", last)
	}
}

func TestSkillsValidate(t *testing.T) {
	start := at(t)
	skillFolder(t, map[string]string{
		"a/good/SKILL.md": "---\nname: good\ndescription: Does it.\n---\nDo.", "a/bad/SKILL.md": "---\nname: Bad\ndescription: Does it.\n---\nDo.", "a/none/notes.md": "x",
	})
	tests := []struct {
		args     []string
		status   int
		out, err string
	}{
		{[]string{"a/good"}, 0, "", "skills read: 1\n"},
		{[]string{"a/good/SKILL.md"}, 0, "", "skills read: 1\n"},
		{[]string{"a/bad"}, 1, "a/bad/SKILL.md:2: error: the name \"Bad\" has capital letters (name-not-lowercase)\n" +
			"a/bad/SKILL.md:2: error: the name \"Bad\" is not that of its folder, \"bad\" (name-dir-mismatch)\n", "skills read: 1\nsteadfast: 2 errors in skills\n"},
		{[]string{"a/none"}, 1, "", "steadfast: there is no skill: a folder with a file named SKILL.md\n"},
		{[]string{"a/missing"}, 1, "", "steadfast: open a/missing: no such file or directory\n"},
		{nil, 1, "", "steadfast: there is no skill: a folder with a file named SKILL.md\n"},
	}
	for _, tc := range tests {
		r := start("")
		r.run(t, tc.status, append([]string{"skills", "validate"}, tc.args...)...)
		same(t, strings.Join(tc.args, " "), r.out.String(), tc.out)
		same(t, strings.Join(tc.args, " "), r.err.String(), tc.err)
	}
	r := start("")
	r.run(t, 0, "--json", "skills", "validate", "a/good")
	same(t, "as JSON", r.out.String(), `{"diagnostics":[],"skills":1,"valid":true}`+"\n")
	t.Chdir("a/good")
	r = start("")
	r.run(t, 0, "skills", "validate", ".")
}

func TestSkillsShowAndPrompt(t *testing.T) {
	start := at(t)
	skillFolder(t, map[string]string{"x/refund/SKILL.md": "---\nname: refund\ndescription: Gives money back.\n---\nAsk.", "x/refund/terms.md": "terms"})
	r := start("")
	r.run(t, 0, "skills", "--dir", "x", "show", "refund")
	if got := r.out.String(); !strings.HasPrefix(got, `<skill_content name="refund" digest="`) || !strings.Contains(got, "\nAsk.\n\nSkill directory: x/refund\n") || !strings.Contains(got, "<file>terms.md</file>") {
		t.Errorf("show: %s", got)
	}
	r = start("")
	r.run(t, 1, "skills", "--dir", "x", "show", "../refund")
	same(t, "unknown", r.err.String(), "steadfast: there is no skill \"../refund\"; steadfast skills list shows what there is\n")
	r = start("")
	r.run(t, 0, "skills", "--dir", "x", "prompt")
	if got := r.out.String(); !strings.Contains(got, "<skill><name>refund</name><description>Gives money back.</description></skill>\n</available_skills>\n") {
		t.Errorf("prompt: %s", got)
	}
	r = start("")
	r.run(t, 0, "skills", "prompt")
	same(t, "no prompt", r.out.String(), "")
	r = start("")
	r.run(t, 1, "skills", "prompt", "--max", "0")
}

func TestSkillsNew(t *testing.T) {
	start := at(t)
	skillFolder(t, nil)
	for name, description := range map[string]string{"refund": `Use when: "money" is asked back # soon`, "yes": "Cheers.", "über-9": "Läuft."} {
		r := start("")
		r.run(t, 0, "--json", "skills", "new", name, "--description", description)
		same(t, "new", r.out.String(), `{"name":"`+name+`","path":"agent/skills/`+name+`/SKILL.md"}`+"\n")
		r = start("")
		r.run(t, 0, "--json", "skills", "show", name)
		var got struct{ Name, Description string }
		if err := json.Unmarshal([]byte(r.out.String()), &got); err != nil || got.Name != name || got.Description != description {
			t.Errorf("show %s: %+v, %v", name, got, err)
		}
	}
	r := start("")
	r.run(t, 0, "skills", "validate")
	r = start("")
	r.run(t, 1, "skills", "new", "refund")
	same(t, "again", r.err.String(), "steadfast: agent/skills/refund is there already\n")
	for _, name := range []string{"../out", "Refund", "a b", "", "a--b", strings.Repeat("a", 65)} {
		r := start("")
		r.run(t, 1, "skills", "new", name)
	}
	r = start("")
	r.run(t, 1, "skills", "new", "empty", "--description", " ")
	if got, err := os.ReadDir("agent/skills"); err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}
