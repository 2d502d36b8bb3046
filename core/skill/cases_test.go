package skill_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/skill"
)

// caseFile is one entry of cases.json.
type caseFile struct {
	Name     string            `json:"name"`
	Files    map[string]string `json:"files"`
	Symlinks map[string]string `json:"symlinks"`
	Roots    []struct {
		Path    string      `json:"path"`
		Scope   skill.Scope `json:"scope"`
		Trusted bool        `json:"trusted"`
	} `json:"roots"`
	Want struct {
		Loaded   []loaded                `json:"loaded"`
		Skipped  []skipped               `json:"skipped"`
		Warnings []skill.Code            `json:"warnings"`
		Optional []skill.Code            `json:"optional"`
		Strict   map[string][]skill.Code `json:"strict"`
		Catalog  []string                `json:"catalog"`
		Slash    []string                `json:"slash"`
		Contains []string                `json:"catalog_contains"`
	} `json:"want"`
}

type loaded struct {
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	BodyStarts   string            `json:"body_starts_with"`
	BodyContains string            `json:"body_contains"`
	AllowedTools []string          `json:"allowed_tools"`
	Metadata     map[string]string `json:"metadata"`
	Resources    []string          `json:"resources"`
}

type skipped struct {
	Path string     `json:"path"`
	Code skill.Code `json:"code"`
}

// TestCases runs cases.json; SKILL_CASES names another folder that has one.
func TestCases(t *testing.T) {
	runCases(t, filepath.Join(cmp.Or(os.Getenv("SKILL_CASES"), "testdata"), "cases.json"))
}

// TestHostileCases runs hostile.json: files that no author meant to write, or one meant to do harm with.
func TestHostileCases(t *testing.T) {
	runCases(t, filepath.Join("testdata", "hostile.json"))
}

func runCases(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []caseFile
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t) })
	}
}

func (c caseFile) run(t *testing.T) {
	root := onDisk(t, c.Files, c.Symlinks)
	roots := []skill.Root{{FS: root.FS(), Scope: skill.Project, Trusted: true}}
	if c.Roots != nil {
		roots = nil
		for _, r := range c.Roots {
			roots = append(roots, skill.Root{FS: root.FS(), Path: r.Path, Scope: r.Scope, Trusted: r.Trusted})
		}
	}
	found, diags := skill.Finder{}.Find(roots...)
	set, more := skill.NewSet(found...)
	diags = append(diags, more...)
	c.checkLoaded(t, set)
	c.checkFindings(t, diags)
	c.checkNames(t, set)
	for dir, want := range c.Want.Strict {
		got := errorsOf(skill.Validate(root.FS(), dir))
		if diff := gocmp.Diff(sorted(want), got); diff != "" {
			t.Errorf("strict %s (-want +got):\n%s", dir, diff)
		}
	}
}

func (c caseFile) checkLoaded(t *testing.T, set skill.Set) {
	var want []string
	for _, w := range c.Want.Loaded {
		want = append(want, w.Name)
		s, ok := set.Get(w.Name)
		if !ok {
			continue // told below
		}
		if s.Description != w.Description {
			t.Errorf("%s: description %q, want %q", w.Name, s.Description, w.Description)
		}
		if !strings.HasPrefix(s.Markdown, w.BodyStarts) || !strings.Contains(s.Markdown, w.BodyContains) {
			t.Errorf("%s: body %q, want it to start with %q and contain %q", w.Name, s.Markdown, w.BodyStarts, w.BodyContains)
		}
		if w.AllowedTools != nil && !slices.Equal(s.AllowedTools, w.AllowedTools) {
			t.Errorf("%s: allowed tools %q, want %q", w.Name, s.AllowedTools, w.AllowedTools)
		}
		for k, v := range w.Metadata {
			if s.Metadata[k] != v {
				t.Errorf("%s: metadata %s is %q, want %q", w.Name, k, s.Metadata[k], v)
			}
		}
		if files, _ := s.Resources(); w.Resources != nil && !slices.Equal(files, w.Resources) {
			t.Errorf("%s: resources %q, want %q", w.Name, files, w.Resources)
		}
	}
	var got []string
	for _, s := range set.All() {
		got = append(got, s.Name)
	}
	if diff := gocmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
}

func (c caseFile) checkFindings(t *testing.T, diags []skill.Diagnostic) {
	var got []string
	codes := map[skill.Code]bool{}
	allowed := append(slices.Clone(c.Want.Warnings), c.Want.Optional...)
	var want []string
	for _, s := range c.Want.Skipped {
		want = append(want, s.Path+" "+string(s.Code))
		allowed = append(allowed, s.Code)
	}
	for _, d := range diags {
		codes[d.Code] = true
		if d.Skipped {
			got = append(got, d.Path+" "+string(d.Code))
		}
		if d.Path == "" || d.Text == "" || !slices.Contains(allowed, d.Code) {
			t.Errorf("finding %v: not expected, or without path or text", d)
		}
	}
	if diff := gocmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	for _, code := range c.Want.Warnings {
		if !codes[code] {
			t.Errorf("there is no %s in %v", code, diags)
		}
	}
}

func (c caseFile) checkNames(t *testing.T, set skill.Set) {
	if c.Want.Catalog != nil && !slices.Equal(set.ForModel(), c.Want.Catalog) {
		t.Errorf("the model sees %q, want %q", set.ForModel(), c.Want.Catalog)
	}
	if c.Want.Slash != nil && !slices.Equal(set.ForUser(), c.Want.Slash) {
		t.Errorf("the user sees %q, want %q", set.ForUser(), c.Want.Slash)
	}
	catalog := set.Catalog(0)
	for _, text := range c.Want.Contains {
		if !strings.Contains(catalog, text) {
			t.Errorf("the catalogue lacks %q:\n%s", text, catalog)
		}
	}
	for _, name := range set.ForModel() {
		if _, ok := set.Get(name); !ok {
			t.Errorf("%s is listed and does not load", name)
		}
	}
}

// onDisk writes files and links to a new folder.
func onDisk(t *testing.T, files, links map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	for name, target := range links {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func errorsOf(diags []skill.Diagnostic) []skill.Code {
	codes := []skill.Code{}
	for _, d := range diags {
		if d.Severity == skill.Error {
			codes = append(codes, d.Code)
		}
	}
	return slices.Compact(sorted(codes))
}

func sorted[T cmp.Ordered](list []T) []T {
	out := append([]T{}, list...)
	slices.Sort(out)
	return out
}
