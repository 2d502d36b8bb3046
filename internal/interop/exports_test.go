package interop_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryExportIsMapped: docs/migrate.md has a row for each name that the installed package exports.
func TestEveryExportIsMapped(t *testing.T) {
	if m := missing(); m != "" {
		t.Skipf("%s: run make test-interop", m)
	}
	doc, err := os.ReadFile(filepath.Join(project, "docs", "migrate.md"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`export (?:type )?\{([^}]*)\}`)
	seen := 0
	for _, entry := range []string{"index.d.ts", filepath.Join("memory", "index.d.ts")} {
		types, err := os.ReadFile(filepath.Join(program, "node_modules", "@readysetcloud", "agent", "dist", entry))
		if err != nil {
			t.Fatal(err)
		}
		for _, exports := range list.FindAllStringSubmatch(string(types), -1) {
			for _, name := range strings.Split(exports[1], ",") {
				if name = strings.TrimPrefix(strings.TrimSpace(name), "type "); name == "" {
					continue
				}
				seen++
				if !regexp.MustCompile("(?m)^\\|[^|]*`" + regexp.QuoteMeta(name) + "`").Match(doc) {
					t.Errorf("%s exports %s, which has no row", entry, name)
				}
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d exports were found", seen)
	}
}
