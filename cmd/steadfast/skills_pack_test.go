package main

import (
	"archive/zip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSkillsPack: one file with one folder, without what is not the skill's; scripts stay executable, the same skill gives the same
// bytes, and what was packed reads as the skill it was.
func TestSkillsPack(t *testing.T) {
	start := at(t)
	skillFolder(t, map[string]string{
		"agent/skills/refund/SKILL.md": "---\nname: refund\ndescription: Gives money back.\n---\nAsk.", "agent/skills/refund/scripts/sum.sh": "#!/bin/sh\n",
		"agent/skills/refund/logo.png": "\x89PNG\x00", "agent/skills/refund/evals/evals.json": "answers", "agent/skills/refund/sub/evals/ok.md": "kept",
		"agent/skills/refund/node_modules/x.js": "x", "agent/skills/refund/scripts/__pycache__/x.pyc": "x", "agent/skills/refund/.DS_Store": "x",
		"broken/SKILL.md": "---\nname: other\ndescription: d\n---\n",
	})
	if err := os.Chmod("agent/skills/refund/scripts/sum.sh", 0o755); err != nil {
		t.Fatal(err)
	}
	pack := func(status int, args ...string) *session {
		t.Helper()
		r := start("")
		r.run(t, status, append([]string{"skills", "pack"}, args...)...)
		return r
	}
	first := pack(0, "refund").out.String()
	if !strings.HasPrefix(first, "refund.skill is written, 4 files, ") {
		t.Errorf("pack: %s", first)
	}
	pack(0, "agent/skills/refund/SKILL.md", "--out", "again.zip")
	a, errA := os.ReadFile("refund.skill")
	b, errB := os.ReadFile("again.zip")
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("twice: %d and %d bytes, %v, %v", len(a), len(b), errA, errB)
	}
	r, err := zip.OpenReader("refund.skill")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name] = f.Mode().String() + " " + string(data)
	}
	want := map[string]string{
		"refund/SKILL.md": "-rw-r--r-- ---\nname: refund\ndescription: Gives money back.\n---\nAsk.", "refund/scripts/sum.sh": "-rwxr-xr-x #!/bin/sh\n",
		"refund/logo.png": "-rw-r--r-- \x89PNG\x00", "refund/sub/evals/ok.md": "-rw-r--r-- kept",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packed (-want +got):\n%s", diff)
	}
	_, one, found, done, err := openSkill("refund.skill")
	if err != nil || one.Name != "refund" || len(found) != 0 {
		t.Fatalf("read back: %+v, %v, %v", one, found, err)
	}
	done()
	if r := pack(1, "broken"); !strings.Contains(r.out.String(), "name-dir-mismatch") || !strings.Contains(r.err.String(), "nothing was packed") {
		t.Errorf("broken: %s%s", r.out.String(), r.err.String())
	}
	if _, err := os.Stat("other.skill"); err == nil {
		t.Error("a skill that breaks the format was packed")
	}
	same(t, "none", pack(1, "none").err.String(), "steadfast: there is no skill none; agent/skills has: refund\n")
}
