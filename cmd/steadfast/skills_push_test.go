package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSkillsPushSendsWhatBelongsToASkill: bytes as bytes, no evals, nothing that tools leave; and nothing at all of an unsound one.
func TestSkillsPushSendsWhatBelongsToASkill(t *testing.T) {
	start := at(t)
	var got struct {
		Files []struct {
			Path, Text string
			Base64     []byte
		}
	}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Method != "PUT" || r.URL.Path != "/agent/skills/refund" || r.Header.Get("Authorization") != "Bearer jwt" {
			t.Errorf("asked %s %s as %s", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(`{"name":"refund","files":3,"bytes":9}`))
	}))
	defer server.Close()
	skillFolder(t, map[string]string{
		"refund/SKILL.md": "---\nname: refund\ndescription: Gives money back.\n---\nAsk.", "refund/a/b.txt": "é", "refund/logo.png": "\x89PNG\x00",
		"refund/evals/evals.json": "answers", "refund/.git/config": "x", "refund/node_modules/x.js": "x", "refund/.DS_Store": "x",
		"broken/SKILL.md": "---\nname: broken\n---\n", "linked/SKILL.md": "---\nname: linked\ndescription: d\n---\nDo.",
	})
	push := func(status int, dir string) *session {
		t.Helper()
		r := start("")
		r.run(t, status, "--url", server.URL, "--token", "jwt", "skills", "push", dir)
		return r
	}
	same(t, "push", push(0, "refund").out.String(), "refund is there, 3 files, 9 bytes; sessions that begin from now on have it\n")
	var sent []string
	for _, f := range got.Files {
		sent = append(sent, f.Path+"="+f.Text+string(f.Base64))
	}
	want := []string{"SKILL.md=---\nname: refund\ndescription: Gives money back.\n---\nAsk.", "a/b.txt=é", "logo.png=\x89PNG\x00"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if r := push(1, "broken"); !strings.Contains(r.out.String(), "desc-missing") || !strings.Contains(r.err.String(), "nothing was sent") {
		t.Errorf("broken: %s%s", r.out.String(), r.err.String())
	}
	if err := os.Symlink("/etc/hostname", "linked/host"); err != nil {
		t.Fatal(err)
	}
	if r := push(1, "linked"); !strings.Contains(r.err.String(), "host is a link") {
		t.Errorf("linked: %s", r.err.String())
	}
	push(1, ".") // several
	push(1, "none")
	archive(t, "refund.skill", "refund/SKILL.md", "refund/a/b.txt", "refund/logo.png", "refund/evals/evals.json", "__MACOSX/x")
	push(0, "refund.skill")
	if len(got.Files) != 3 || got.Files[2].Path != "logo.png" {
		t.Errorf("sent from an archive: %+v", got.Files)
	}
	t.Chdir("refund")
	archive(t, "../refund.zip", "SKILL.md", "a/b.txt")
	t.Chdir("..")
	push(0, "refund.zip")
	if len(got.Files) != 2 {
		t.Errorf("sent from an archive without a folder: %+v", got.Files)
	}
	for name, entries := range map[string][]string{
		"is no path inside": {"refund/SKILL.md", "../x"}, "is there twice": {"refund/SKILL.md", "refund/skill.md"},
		"is a link": {"refund/SKILL.md", "refund/link"}, "is not one skill": {"refund/SKILL.md", "broken/SKILL.md"},
	} {
		archive(t, "bad.zip", entries...)
		if r := push(1, "bad.zip"); !strings.Contains(r.err.String(), name) {
			t.Errorf("%v: %s, want %q", entries, r.err.String(), name)
		}
	}
	if asked != 3 {
		t.Errorf("the stack was asked %d times", asked)
	}
}

// archive packs files of the working folder; one that is not there is packed as its name, "link" as a link.
func archive(t *testing.T, file string, names ...string) {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(0o644)
		if strings.HasSuffix(name, "/link") {
			h.SetMode(0o777 | os.ModeSymlink)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			data = []byte(name)
		}
		e, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
