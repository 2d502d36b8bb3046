package skill_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// text is a SKILL.md.
func text(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nDo it."
}

// files makes a file system of paths and texts.
func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

// told are findings as path, code and other path.
func told(found []skill.Diagnostic) []string {
	var out []string
	for _, d := range found {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Path, d.Code, d.Other)))
	}
	return out
}

func names(skills []skill.Skill) []string {
	var out []string
	for _, s := range skills {
		out = append(out, s.Name)
	}
	return out
}

func TestFind(t *testing.T) {
	demo := text("demo", "Does it.")
	tests := []struct {
		name   string
		finder skill.Finder
		roots  []skill.Root
		want   []string
		found  []string
	}{
		{"a folder that is not there", skill.Finder{}, []skill.Root{{FS: files(), Path: "none"}}, nil, nil},
		{"no file system", skill.Finder{}, []skill.Root{{Path: "x"}}, nil, []string{"x unreadable"}},
		{"a path that leads out", skill.Finder{}, []skill.Root{{FS: files(), Path: "../x"}}, nil, []string{"../x unreadable"}},
		{"the skill's own folder", skill.Finder{}, []skill.Root{{FS: files("a/demo/SKILL.md", demo), Path: "a/demo"}}, []string{"demo"}, nil},
		{"its SKILL.md", skill.Finder{}, []skill.Root{{FS: files("a/demo/SKILL.md", demo), Path: "a/demo/SKILL.md"}}, []string{"demo"}, nil},
		{"another case", skill.Finder{}, []skill.Root{{FS: files("demo/skill.md", demo)}}, nil, []string{"demo/skill.md skill-file-case"}},
		{"a skill below a skill", skill.Finder{}, []skill.Root{{FS: files("demo/SKILL.md", demo, "demo/a/b/SKILL.md", demo)}}, []string{"demo"},
			[]string{"demo/a/b/SKILL.md nested-skill demo/SKILL.md"}},
		{"too deep", skill.Finder{Depth: 1}, []skill.Root{{FS: files("a/b/demo/SKILL.md", demo, "demo/SKILL.md", demo)}}, []string{"demo"}, []string{"a/b scan-limit"}},
		{"too many", skill.Finder{Folders: 2}, []skill.Root{{FS: files("demo/SKILL.md", demo, "e/SKILL.md", demo, "f/SKILL.md", demo)}}, []string{"demo"}, []string{"e scan-limit"}},
		{"not trusted, once for each file", skill.Finder{}, []skill.Root{{FS: files("demo/SKILL.md", "\xff", "z.md", "x"), Scope: skill.Project, Flat: true}}, nil,
			[]string{"demo/SKILL.md untrusted-scope", "z.md untrusted-scope"}},
		{"scopes win in order", skill.Finder{}, []skill.Root{
			{FS: files("org/SKILL.md", text("org", "o")), Scope: skill.Organisation}, {FS: files("up/SKILL.md", text("up", "u")), Scope: skill.Upload},
			{FS: files("in/SKILL.md", text("in", "i"))}, {FS: files("user/SKILL.md", text("user", "u")), Scope: skill.User},
			{FS: files("mine/SKILL.md", text("mine", "m")), Scope: skill.Project, Trusted: true},
		}, []string{"mine", "user", "in", "up", "org"}, nil},
		{"another order", skill.Finder{Order: []skill.Scope{skill.User, skill.Project}}, []skill.Root{
			{FS: files("mine/SKILL.md", text("mine", "m")), Scope: skill.Project, Trusted: true}, {FS: files("in/SKILL.md", text("in", "i"))},
			{FS: files("user/SKILL.md", text("user", "u")), Scope: skill.User},
		}, []string{"user", "mine", "in"}, nil},
		{"an unreadable file", skill.Finder{}, []skill.Root{{FS: fstest.MapFS{"demo/SKILL.md": {Mode: fs.ModeNamedPipe}, "e/SKILL.md": {Data: []byte(text("e", "e"))}}}}, []string{"e"},
			[]string{"demo/SKILL.md unreadable"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, found := tc.finder.Find(tc.roots...)
			if diff := cmp.Diff(tc.want, names(got)); diff != "" {
				t.Errorf("skills (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.found, told(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSameFolderTwice(t *testing.T) {
	fsys := files("demo/SKILL.md", text("demo", "Does it."))
	got, found := skill.Finder{}.Find(skill.Root{FS: fsys}, skill.Root{FS: fsys, Path: "demo", Name: "again"}, skill.Root{FS: files("demo/SKILL.md", text("demo", "Does it.")), Name: "copy"})
	if len(got) != 2 || got[0].Path != "demo/SKILL.md" || got[1].Path != "copy/demo/SKILL.md" || len(found) != 0 {
		t.Errorf("Find() = %v, %v", got, found)
	}
}

func TestLoadFlat(t *testing.T) {
	fsys := files(
		"demo/SKILL.md", text("demo", "Does it."),
		"plain.md", "\n# Check a *plan*\n1. Read it.",
		"described.md", "---\ndescription: Use when asked.\n---\n# Title\n",
		"headless.md", "---\nlicense: MIT\n---\n- Do this\n",
		"other.md", "---\nname: else\ndescription: d\n---\nx",
		"empty.md", "", "open.md", "---\nname: open\n", "readme.md", "no skill", "notes.txt", "no skill", "group/loose.md", "no skill")
	got, found := skill.Load(fsys)
	want := map[string]string{"demo": "Does it.", "plain": "Check a *plan*", "described": "Use when asked.", "headless": "Do this", "else": "d"}
	loaded := map[string]string{}
	for _, s := range got {
		loaded[s.Name] = s.Description
		if s.Scope != skill.Builtin {
			t.Errorf("%s has the scope %q", s.Name, s.Scope)
		}
	}
	if diff := cmp.Diff(want, loaded); diff != "" {
		t.Errorf("Load() (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"empty.md desc-missing", "open.md frontmatter-unclosed", "other.md name-dir-mismatch"}, told(found)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestP29SkillFileAccess: no name, path or link reaches a file outside of the skill.
func TestP29SkillFileAccess(t *testing.T) {
	const secret = "SECRET"
	root := onDisk(t, map[string]string{
		"secret.txt": secret, "skills/outside/SKILL.md": text("outside", secret+" is not told"), "skills/demo/SKILL.md": text("demo", "Does it."),
		"skills/demo/references/guide.md": "guide", "skills/demo/references/C:odd.md": "guide", "skills/demo/C:odd.md": "guide", `skills/demo/back\slash.md`: "guide", "skills/demo/evals/evals.json": secret, "skills/demo/.env": secret, "elsewhere/linked/SKILL.md": text("linked", "Linked."),
		"elsewhere/linked/note.md": "note",
	}, map[string]string{
		"skills/demo/inside.md": "references/guide.md", "skills/demo/refs": "references", "skills/demo/out.md": "../../secret.txt", "skills/demo/outdir": "../..",
		"skills/demo/absolute": "/etc", "skills/demo/loop": "loop", "skills/demo/dangling": "none", "skills/demo/sub/up": "..", "skills/demo/answers": "evals",
		"skills/stolen/SKILL.md": "../../secret.txt", "skills/gone/SKILL.md": "/etc/passwd", "skills/linked": "../elsewhere/linked", "skills/again": "linked", "skills/nowhere": "none",
	})
	got, found := skill.Finder{}.Find(skill.Root{FS: root.FS(), Path: "skills", Scope: skill.Project, Trusted: true})
	if diff := cmp.Diff([]string{"demo", "outside", "linked"}, names(got)); diff != "" {
		t.Fatalf("skills (-want +got):\n%s", diff)
	}
	// Of two links to one folder the first one by name is the skill.
	if diff := cmp.Diff([]string{"skills/gone/SKILL.md symlink-escape", "skills/stolen/SKILL.md symlink-escape", "skills/again/SKILL.md name-dir-mismatch"}, told(found)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	demo := got[0]
	listed, more := demo.Resources()
	if diff := cmp.Diff([]string{"inside.md", "references/C:odd.md", "references/guide.md"}, listed); diff != "" || more != 0 {
		t.Errorf("Resources() (-want +got), %d more:\n%s", more, diff)
	}
	for _, name := range listed {
		if e, err := demo.ReadFile(name, 0, 0); err != nil || e.Text != "guide" {
			t.Errorf("ReadFile(%s) = %q, %v", name, e.Text, err)
		}
	}
	if e, err := demo.ReadFile("refs/guide.md", 0, 0); err != nil || e.Text != "guide" {
		t.Errorf("a link that stays inside: %q, %v", e.Text, err)
	}
	if e, err := got[2].ReadFile("note.md", 0, 0); err != nil || e.Text != "note" {
		t.Errorf("a file of a linked skill: %q, %v", e.Text, err)
	}
	for name, want := range map[string]fault.Code{
		"../../secret.txt": fault.Invalid, "references/../../../secret.txt": fault.Invalid, "/etc/passwd": fault.Invalid, `..\..\secret.txt`: fault.Invalid,
		`C:\secret`: fault.Invalid, "C:secret": fault.Invalid, "//host/share": fault.Invalid, "a\x00b": fault.Invalid, "": fault.Invalid, ".": fault.Invalid, "references/..": fault.Invalid,
		"out.md": fault.Denied, "outdir/secret.txt": fault.Denied, "absolute/passwd": fault.Denied, "loop": fault.Denied, "evals/evals.json": fault.Denied, "answers/evals.json": fault.Denied,
		"dangling": fault.NotFound, "none.md": fault.NotFound, "references": fault.Invalid, "refs": fault.Invalid,
	} {
		if e, err := demo.ReadFile(name, 0, 0); fault.CodeOf(err) != want || strings.Contains(e.Text, secret) {
			t.Errorf("ReadFile(%q) = %q, %v, want %s", name, e.Text, err, want)
		}
	}
}

func TestLinks(t *testing.T) {
	root := onDisk(t, map[string]string{
		"proj/.agents/skills/real/SKILL.md": text("real", "d"), "proj/pool/kept/SKILL.md": text("kept", "d"), "elsewhere/away/SKILL.md": text("away", "d"),
	}, map[string]string{
		"proj/.agents/skills/alias/SKILL.md": "../real/SKILL.md", "proj/.agents/skills/kept": "../../pool/kept", "proj/.agents/skills/away": "../../../elsewhere/away",
		"proj/.agents/skills/far/SKILL.md": "../../../../elsewhere/away/SKILL.md",
	})
	in := skill.Root{FS: root.FS(), Path: "proj/.agents/skills", Scope: skill.Project, Trusted: true}
	got, found := skill.Finder{}.Find(in)
	if diff := cmp.Diff([]string{"real", "kept"}, names(got)); diff != "" {
		t.Errorf("of a project (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"proj/.agents/skills/far/SKILL.md symlink-escape", "proj/.agents/skills/away symlink-escape"}, told(found)); diff != "" {
		t.Errorf("of a project (-want +got):\n%s", diff)
	}
	in.Scope = skill.User
	got, found = skill.Finder{}.Find(in)
	if diff := cmp.Diff([]string{"real", "away", "kept"}, names(got)); diff != "" || len(found) != 0 {
		t.Errorf("of a user (-want +got), %v:\n%s", found, diff)
	}
	if got := skill.Validate(root.FS(), "proj/.agents/skills/alias"); len(got) != 1 || got[0].Code != skill.NameDirMismatch {
		t.Errorf("Validate(alias) = %v", got)
	}
}

// TestP30SkillNames: of two skills with one name one wins by a stated order, the other is told once, and every list agrees.
func TestP30SkillNames(t *testing.T) {
	found, diags := skill.Finder{}.Find(
		skill.Root{FS: files("b/SKILL.md", text("demo", "B."), "a/SKILL.md", text("demo", "A."), "caf/SKILL.md", text("cafe\u0301", "Decomposed.")), Name: "bundled"},
		skill.Root{FS: files("demo/SKILL.md", text("demo", "Sent."), "café/SKILL.md", text("café", "Composed."), "Demo/SKILL.md", text("Demo", "Capital.")), Name: "sent", Scope: skill.Upload},
	)
	set, more := skill.NewSet(found...)
	if diff := cmp.Diff([]string{
		"bundled/b/SKILL.md name-collision bundled/a/SKILL.md", "sent/café/SKILL.md name-collision bundled/caf/SKILL.md",
		"sent/demo/SKILL.md name-collision bundled/a/SKILL.md"}, told(more)); diff != "" {
		t.Errorf("collisions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"bundled/a/SKILL.md name-dir-mismatch", "bundled/b/SKILL.md name-dir-mismatch",
		"bundled/caf/SKILL.md name-dir-mismatch", "sent/Demo/SKILL.md name-not-lowercase"}, told(diags)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"demo": "A.", "Demo": "Capital.", "café": "Decomposed.", "demo@upload": "Sent.", "café@upload": "Composed.", "demo@builtin": "A."} {
		if s, ok := set.Get(name); !ok || s.Description != want {
			t.Errorf("Get(%s) = %q, %t, want %q", name, s.Description, ok, want)
		}
	}
	catalog, tools := set.Catalog(0), set.Tools(nil)
	for _, name := range set.ForModel() {
		content, err := call(t, tools[0], map[string]any{"name": name})
		if err != nil || !strings.Contains(content, "Do it.") || strings.Count(catalog, "<name>"+name+"</name>") != 1 {
			t.Errorf("%s is advertised: %q, %v\n%s", name, content, err, catalog)
		}
	}
	if strings.Count(catalog, "<skill>") != 3 || len(set.Shadowed()) != 3 {
		t.Errorf("%d skills are shadowed, catalogue:\n%s", len(set.Shadowed()), catalog)
	}
}

func TestValidate(t *testing.T) {
	fsys := files("good/SKILL.md", text("good", "d"), "bad/SKILL.md", text("Bad", "a: b"), "case/skill.md", text("case", "d"), "empty/notes.md", "x",
		"good/sub/SKILL.md", "broken", "bom/SKILL.md", "\xef\xbb\xbf"+text("bom", "d"))
	for dir, want := range map[string][]string{
		"good": {"good/sub/SKILL.md nested-skill good/SKILL.md"}, "empty": {"empty/SKILL.md skill-file-missing"}, "none": {"none/SKILL.md skill-file-missing"},
		"bad": {"bad/SKILL.md yaml-invalid", "bad/SKILL.md name-not-lowercase", "bad/SKILL.md name-dir-mismatch"}, "case": {"case/skill.md skill-file-case"},
		"bom": {"bom/SKILL.md bom"}, "../good": {"../good unreadable"},
	} {
		got := skill.Validate(fsys, dir)
		if diff := cmp.Diff(want, told(got)); diff != "" {
			t.Errorf("Validate(%s) (-want +got):\n%s", dir, diff)
		}
		if skill.Failed(got) != (dir != "good" && dir != "bom") {
			t.Errorf("Validate(%s) = %v", dir, got)
		}
	}
}

// many are n skills.
func many(n int) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		fsys[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(text(name, "Handles the things of kind "+name+". Use when one of them comes up.") + strings.Repeat("A line of the body.\n", 50))}
	}
	return fsys
}

// reads counts how often files are opened.
type reads struct {
	fstest.MapFS
	opened map[string]int
}

func (r reads) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, skill.FileName) {
		r.opened[name]++
	}
	return r.MapFS.Open(name)
}

// TestManySkills: no body is read twice, for the catalogue neither.
func TestManySkills(t *testing.T) {
	const n = 300
	fsys := reads{many(n), map[string]int{}}
	found, diags := skill.Load(fsys)
	set, _ := skill.NewSet(found...)
	if set.Catalog(0) == "" || len(found) != n || len(diags) != 0 {
		t.Fatalf("%d skills, %v", len(found), diags)
	}
	for name, times := range fsys.opened {
		if times != 1 {
			t.Errorf("%s was opened %d times", name, times)
		}
	}
}

// BenchmarkLoad10000 finds and reads 10,000 skills on disk and writes their catalogue: the goal is less than 2 seconds.
func BenchmarkLoad10000(b *testing.B) {
	dir := b.TempDir()
	if err := os.CopyFS(dir, many(10_000)); err != nil {
		b.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for b.Loop() {
		found, _ := skill.Finder{Folders: 20_000}.Find(skill.Root{FS: root.FS()})
		set, _ := skill.NewSet(found...)
		if len(found) != 10_000 || set.Catalog(0) == "" {
			b.Fatalf("%d skills", len(found))
		}
	}
}

// BenchmarkParse10000 is the reading alone.
func BenchmarkParse10000(b *testing.B) {
	data := []byte(text("demo", "Handles the things of one kind. Use when one of them comes up.") + strings.Repeat("A line of the body.\n", 50))
	for b.Loop() {
		for range 10_000 {
			if _, _, ok := skill.Parse("demo/SKILL.md", "demo", data); !ok {
				b.Fatal("no skill")
			}
		}
	}
}

// FuzzReadFile: no path reads what is outside of the skill.
func FuzzReadFile(f *testing.F) {
	const secret = "SECRET"
	dir := f.TempDir()
	if err := os.CopyFS(dir, files("a/SKILL.md", text("a", "d"), "a/in.md", "in", "a/sub/in.md", "in", "a/evals/x", secret, "secret", secret, "b/secret", secret)); err != nil {
		f.Fatal(err)
	}
	for link, target := range map[string]string{"a/out": "../secret", "a/up": "..", "a/sub/back": "../..", "a/here": "sub"} {
		if err := os.Symlink(target, dir+"/"+link); err != nil {
			f.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = root.Close() })
	found, _ := skill.Finder{}.Find(skill.Root{FS: root.FS(), Path: "a"})
	if len(found) != 1 {
		f.Fatalf("%d skills", len(found))
	}
	for _, path := range []string{"in.md", "here/in.md", "out", "up/secret", "sub/back/b/secret", "../secret", "./evals/x", "sub/../evals/x", "SKILL.md", "a//b", "here/../out"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		e, err := found[0].ReadFile(path, 0, 0)
		if strings.Contains(e.Text, secret) || err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("ReadFile(%q) = %q, %v", path, e.Text, err)
		}
		if err == nil && e.Text != "in" && e.Text != "Do it." {
			t.Errorf("ReadFile(%q) = %+v", path, e)
		}
		if code := fault.CodeOf(err); code == fault.Internal || code == fault.Unavailable {
			t.Errorf("ReadFile(%q): %v", path, err)
		}
	})
}
