package lambda

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFingerprint(t *testing.T) {
	tests := []struct {
		name, path string
		counts     bool
	}{
		{"source", "core/key/key.go", true},
		{"new package", "core/more/more.go", true},
		{"module", "go.mod", true},
		{"embedded file", "agent/instructions.md", true},
		{"embedded file further down", "agent/skills/x/SKILL.md", true},
		{"test", "core/key/key_test.go", false},
		{"test data", "core/key/testdata/x.json", false},
		{"file of the root", "README.md", false},
		{"file beside no package", "events/run-turn.json", false},
		{"hidden folder", ".git/HEAD", false},
		{"hidden file", "agent/.DS_Store", false},
		{"other module", "tools/main.go", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, path := range []string{"go.mod", "main.go", "core/key/key.go", "agent/agent.go", "tools/go.mod"} {
				put(t, filepath.Join(dir, path), "x")
			}
			before := mustFingerprint(t, dir)
			if again := mustFingerprint(t, dir); again != before {
				t.Fatal("two looks at the same files differ")
			}
			put(t, filepath.Join(dir, tc.path), "changed")
			if changed := mustFingerprint(t, dir) != before; changed != tc.counts {
				t.Errorf("a change of %s counts: %v, want %v", tc.path, changed, tc.counts)
			}
		})
	}
}

func TestFingerprintOfNoFolder(t *testing.T) {
	if _, err := fingerprint(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error for a folder that is not there")
	}
}

func mustFingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum, err := fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
