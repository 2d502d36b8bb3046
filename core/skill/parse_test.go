package skill_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/steadfast-agents/steadfast/core/skill"
)

// brief are findings as line and code, and x before what costs the skill.
func brief(found []skill.Diagnostic) []string {
	var out []string
	for _, d := range found {
		mark := ""
		if d.Skipped {
			mark = "x "
		}
		out = append(out, fmt.Sprintf("%s%d %s", mark, d.Line, d.Code))
	}
	return out
}

// TestP28SkillFiles: whatever the form of a file, the skill loads whole or is reported, and limits are never lost.
func TestP28SkillFiles(t *testing.T) {
	const head = "name: demo\ndescription: Does it.\n"
	tests := []struct {
		name, text string
		want       skill.Skill // the zero value: none
		found      []string
	}{
		{"colon in the description", "---\nname: demo\ndescription: Use when: asked\nallowed-tools: Read\n---\nDo.",
			skill.Skill{Name: "demo", Description: "Use when: asked", AllowedTools: []string{"Read"}, Markdown: "Do."}, []string{"3 yaml-repaired"}},
		{"mark, carriage returns, blanks", "\xef\xbb\xbf--- \r\n" + strings.ReplaceAll(head, "\n", "\r\n") + "---\r\nDo.\r\nIt.",
			skill.Skill{Name: "demo", Description: "Does it.", Markdown: "Do.\nIt."}, []string{"1 bom", "1 fence-whitespace"}},
		{"carriage returns alone", "---\r" + strings.ReplaceAll(head, "\n", "\r") + "---\rDo.",
			skill.Skill{Name: "demo", Description: "Does it.", Markdown: "Do."}, nil},
		{"not closed", "---\n" + head, skill.Skill{}, []string{"x 1 frontmatter-unclosed"}},
		{"closed by four dashes only", "---\n" + head + "----\nDo.", skill.Skill{}, []string{"x 1 frontmatter-unclosed"}},
		{"not UTF-8", "---\n" + head + "license: \xff\n---\nDo.", skill.Skill{}, []string{"x 4 not-utf8"}},
		{"nothing", "", skill.Skill{}, []string{"x 1 no-frontmatter"}},
		{"fence after text", "# Title\n---\n" + head + "---\n", skill.Skill{}, []string{"x 1 no-frontmatter"}},
		{"comment over lines", "<!-- a\nb -->\n---\n" + head + "---\nDo.",
			skill.Skill{Name: "demo", Description: "Does it.", Markdown: "Do."}, []string{"1 content-before-frontmatter"}},
		{"comment not closed", "<!-- a\n---\n" + head + "---\nDo.", skill.Skill{}, []string{"x 1 no-frontmatter"}},
		{"limits that are a map", "---\n" + head + "allowed-tools:\n  Bash: true\n---\nDo.", skill.Skill{}, []string{"x 4 allowed-tools-unreadable"}},
		{"limits not closed", "---\n" + head + "allowed-tools: Bash(git\n---\nDo.", skill.Skill{}, []string{"x 4 allowed-tools-unreadable"}},
		{"limits broken", "---\n" + head + "allowed-tools: [Read, \"Bash\n---\nDo.", skill.Skill{}, []string{"x 4 allowed-tools-unreadable"}},
		{"limits indented by mistake", "---\nname: demo\ndescription: Does it.\n allowed-tools: Read\n---\nDo.", skill.Skill{}, []string{"x 3 allowed-tools-unreadable"}},
		{"limits under another spelling", "---\n" + head + "allowed_tools: Bash\n---\nDo.",
			skill.Skill{Name: "demo", Description: "Does it.", Markdown: "Do."}, []string{"4 unknown-field"}},
		{"the body is no metadata", "---\n" + head + "---\nallowed-tools: Bash\nlicense: MIT\n",
			skill.Skill{Name: "demo", Description: "Does it.", Markdown: "allowed-tools: Bash\nlicense: MIT"}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { check(t, tc.text, tc.want, tc.found) })
	}
}

func check(t *testing.T, text string, want skill.Skill, findings []string) {
	t.Helper()
	got, found, ok := skill.Parse("", "demo", []byte(text))
	if ok != (want.Name != "") {
		t.Errorf("Parse() ok = %t", ok)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(skill.Skill{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("skill (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(findings, brief(found)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestRepair(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"star", "*.go files are formatted", "*.go files are formatted"},
		{"backtick", "`go vet` over all", "`go vet` over all"},
		{"bracket", "[draft] notes", "[draft] notes"},
		{"percent", "%d of them", "%d of them"},
		{"tab", "a\tb: c", "a  b: c"},
		{"over lines", "one: two\n  three: four", "one: two three: four"},
		{"over lines with a gap", "one: two\n\n  three", "one: two\nthree"},
		{"quoted as a whole, with a bad escape", `"in C:\Users: all"`, `in C:\Users: all`},
		{"quote at both ends", `"a" or: "b"`, `"a" or: "b"`},
		{"folded block without an indent", ">\nToo far left: here", ""},
		{"block with a tab", "|\n\tone: two\n\tthree", "one: two\nthree"},
		{"mapping", "\n  Use when: asked\n  Not when: late", "Use when: asked Not when: late"},
		{"hash is kept in a repaired text", "fix: ticket #12", "fix: ticket #12"},
		{"number", "42", "42"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s, found, ok := skill.Parse("f", "demo", []byte("---\nname: demo\ndescription: "+tc.value+"\nlicense: MIT\n---\nDo."))
			if ok != (tc.want != "") || s.Description != tc.want || ok && s.License != "MIT" {
				t.Errorf("Parse() = %q, license %q, %t, want %q; %v", s.Description, s.License, ok, tc.want, found)
			}
		})
	}
}

func TestFields(t *testing.T) {
	tests := []struct {
		name, block string
		want        skill.Skill
		found       []string
	}{
		{"first of two counts", "name: demo\ndescription: One.\ndescription: Two.\n",
			skill.Skill{Name: "demo", Description: "One."}, []string{"4 duplicate-key"}},
		{"first of two in metadata", "name: demo\ndescription: One.\nmetadata:\n  a: 1\n  a: 2\n  b:\n",
			skill.Skill{Name: "demo", Description: "One.", Metadata: map[string]string{"a": "1", "b": ""}}, []string{"6 duplicate-key"}},
		{"metadata is a text", "name: demo\ndescription: One.\nmetadata: x\n",
			skill.Skill{Name: "demo", Description: "One."}, []string{"4 metadata-not-string-map"}},
		{"metadata is repaired", "name: demo\ndescription: One.\nmetadata:\n  by: team: web\n  list: [a]\n  since: 2026-03-01\n",
			skill.Skill{Name: "demo", Description: "One.", Metadata: map[string]string{"by": "team: web", "since": "2026-03-01"}}, []string{"5 yaml-repaired", "6 metadata-not-string-map"}},
		{"alias", "name: &n demo\ndescription: *n\n", skill.Skill{Name: "demo", Description: "demo"}, nil},
		{"null name", "name: ~\ndescription: One.\n", skill.Skill{Name: "demo", Description: "One."}, []string{"2 name-missing"}},
		{"list for a description", "name: demo\ndescription: [a]\n", skill.Skill{}, []string{"x 3 desc-not-string"}},
		{"comment for a description", "name: demo\ndescription: # later\n", skill.Skill{}, []string{"x 3 desc-missing"}},
		{"only comments", "# nothing\n", skill.Skill{}, []string{"1 name-missing", "x 1 desc-missing"}},
		{"several documents", "name: demo\n...\ndescription: One.\n", skill.Skill{Name: "demo", Description: "One."}, []string{"2 yaml-repaired"}},
		{"long compatibility", "name: demo\ndescription: One.\ncompatibility: " + strings.Repeat("é", 501) + "\n",
			skill.Skill{Name: "demo", Description: "One.", Compatibility: strings.Repeat("é", 501)}, []string{"4 compat-too-long"}},
		{"letters of any language, composed or not", "name: demo\ndescription: " + strings.Repeat("é", 1024) + "\n",
			skill.Skill{Name: "demo", Description: strings.Repeat("é", 1024)}, nil},
		{"license and compatibility are no texts", "name: demo\ndescription: One.\nlicense: [MIT]\ncompatibility: {os: linux}\n",
			skill.Skill{Name: "demo", Description: "One."}, []string{"4 field-not-text", "5 field-not-text"}},
		{"license is null", "name: demo\ndescription: One.\nlicense:\n", skill.Skill{Name: "demo", Description: "One."}, nil},
		{"hidden", "name: demo\ndescription: One.\ndisable-model-invocation: \"True\"\nuser-invocable: no\n",
			skill.Skill{Name: "demo", Description: "One.", HiddenFromModel: true, HiddenFromUser: true}, []string{"4 unknown-field", "5 unknown-field"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if tc.want.Name != "" {
				tc.want.Markdown = "Do."
			}
			check(t, "---\n"+tc.block+"---\nDo.", tc.want, tc.found)
		})
	}
}

func TestSizes(t *testing.T) {
	const head = "---\nname: demo\ndescription: Does it.\n"
	tests := []struct {
		name, text string
		found      []string
	}{
		{"largest file", head + "---\n" + strings.Repeat("a", skill.MaxFile-len(head)-4), []string{"5 body-too-long"}},
		{"one byte more", head + "---\n" + strings.Repeat("a", skill.MaxFile-len(head)-3), []string{"x 0 too-large"}},
		{"large metadata", head + "license: " + strings.Repeat("a", skill.MaxFrontmatter) + "\n---\n", []string{"x 1 too-large"}},
		{"501 lines", head + "---\n" + strings.Repeat("a\n", 501), []string{"5 body-too-long"}},
		{"500 lines", head + "---\n" + strings.Repeat("a\n", 500), nil},
		{"no body", head + "---", []string{"5 body-empty"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, found, _ := skill.Parse("f", "demo", []byte(tc.text))
			if diff := cmp.Diff(tc.found, brief(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	in := []skill.Diagnostic{{Code: skill.YAMLRepaired, Severity: skill.Warning}, {Code: skill.BOM, Severity: skill.Note}, {Code: skill.UnknownField, Severity: skill.Note}}
	want := []skill.Diagnostic{{Code: skill.YAMLInvalid, Severity: skill.Error}, {Code: skill.BOM, Severity: skill.Warning}, {Code: skill.UnknownField, Severity: skill.Error}}
	got := skill.Strict(in)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Strict() (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, skill.Strict(got)); diff != "" {
		t.Errorf("Strict is not idempotent:\n%s", diff)
	}
	if skill.Failed(in) || !skill.Failed(got) {
		t.Error("Failed() does not see the errors")
	}
	d := skill.Diagnostic{Path: "a/SKILL.md", Line: 3, Severity: skill.Error, Code: skill.DescMissing, Text: "the description is empty"}
	if got, want := d.String(), "a/SKILL.md:3: error: the description is empty (desc-missing)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"---\nname: a\ndescription: b: c\n---\nd", "<!-- x -->\n---\r\n- a\n---", "---\nmetadata:\n\t- a: b: c\n---",
		"---\nname: &a [*a]\n---", "---\nallowed-tools: a, b(c d)\ndescription: |\n x\n---", "---\n: \n}\n---", "---\na: !!binary x\n? b\n---"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		started := time.Now()
		s, found, ok := skill.Parse("f", "demo", data)
		if took := time.Since(started); took > 20*time.Second { // a machine may be busy, but not that long
			t.Fatalf("took %v", took)
		}
		again, foundAgain, _ := skill.Parse("f", "demo", data)
		if diff := cmp.Diff(found, foundAgain); diff != "" || s.Digest() != again.Digest() {
			t.Fatalf("not the same twice:\n%s", diff)
		}
		skipped := 0
		for _, d := range found {
			if d.Skipped {
				skipped++
			}
			if d.Line < 0 || d.Line > strings.Count(string(data), "\n")+strings.Count(string(data), "\r")+2 || d.Text == "" {
				t.Errorf("finding %+v", d)
			}
		}
		if ok != (skipped == 0) || ok && (s.Name == "" || strings.TrimSpace(s.Description) == "") {
			t.Fatalf("ok = %t with %q, %q and %v", ok, s.Name, s.Description, found)
		}
		set, _ := skill.NewSet(s)
		if catalog := set.Catalog(0); ok && !s.HiddenFromModel && (strings.Count(catalog, "</available_skills>") != 1 || strings.Count(catalog, "<skill>") != 1) {
			t.Errorf("catalogue:\n%s", catalog)
		}
	})
}
