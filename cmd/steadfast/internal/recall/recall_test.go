package recall_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/recall"
)

func TestBook(t *testing.T) {
	b := recall.Book{Path: filepath.Join(t.TempDir(), "deep", "sessions.json")}
	remember := func(stack, user, session string) {
		t.Helper()
		if err := b.Remember(stack, user, session); err != nil {
			t.Fatal(err)
		}
	}
	want := func(stack, user, session string) {
		t.Helper()
		if got := b.Session(stack, user); got != session {
			t.Errorf("Session(%q, %q) = %q, want %q", stack, user, got, session)
		}
	}
	want("local", "ada", "")
	remember("local", "ada", "s1")
	remember("local", "bob", "s2")
	remember("prod", "ada", "s3")
	remember("local", "ada", "s4")
	want("local", "ada", "s4")
	want("local", "bob", "s2")
	want("prod", "ada", "s3")
	if err := b.Forget("s2"); err != nil {
		t.Fatal(err)
	}
	want("local", "bob", "")
	want("local", "ada", "s4")
	if entries, err := os.ReadDir(filepath.Dir(b.Path)); err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v (%v), want the one file", entries, err)
	}
}

func TestDamagedBookIsEmpty(t *testing.T) {
	for _, content := range []string{"", "null", "[1]", `{"local": 3}`, `{"local": {"ada"`} {
		b := recall.Book{Path: filepath.Join(t.TempDir(), "sessions.json")}
		if err := os.WriteFile(b.Path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := b.Session("local", "ada"); got != "" {
			t.Errorf("Session in %q = %q, want none", content, got)
		}
		if err := b.Remember("local", "ada", "s1"); err != nil || b.Session("local", "ada") != "s1" {
			t.Errorf("Remember over %q: %v, then %q", content, err, b.Session("local", "ada"))
		}
	}
}

func TestRememberSaysWhatFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (recall.Book{Path: filepath.Join(file, "sessions.json")}).Remember("local", "ada", "s1"); err == nil {
		t.Error("Remember in a folder that is a file succeeded")
	}
}
