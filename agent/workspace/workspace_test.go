package workspace_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/agent/workspace"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// TestFilesAreSound: each is one that a session may have.
func TestFilesAreSound(t *testing.T) {
	found := 0
	err := fs.WalkDir(workspace.Files(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found++
		content, err := fs.ReadFile(workspace.Files(), path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".go") {
			t.Errorf("%s is shown", path)
		}
		return contract.CheckFile(path, string(content))
	})
	if err != nil || found == 0 {
		t.Errorf("%d files, %v", found, err)
	}
}
