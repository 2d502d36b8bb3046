package workspace_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/workspace"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// TestGoFilesOfAPackageAreNoFilesOfSessions: those in folders below are.
func TestGoFilesOfAPackageAreNoFilesOfSessions(t *testing.T) {
	folder := workspace.Program(fstest.MapFS{"workspace.go": {Data: []byte("package x")}, "a.md": {Data: []byte("a")}, "code/main.go": {Data: []byte("package main")}})
	w := workspace.Workspace{Rows: store.Table{Name: "t", DynamoDB: fake.NewDynamo("t")}, SessionID: "s", Seed: folder}
	got, err := w.ListFiles(t.Context())
	if diff := cmp.Diff([]contract.FileInfo{{Path: "a.md", Bytes: 1}, {Path: "code/main.go", Bytes: 12}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := fs.ReadFile(folder, "workspace.go"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a hidden file reads with %v", err)
	}
	if text, err := w.ReadFile(t.Context(), "code/main.go"); err != nil || text != "package main" {
		t.Errorf("reads %q, %v", text, err)
	}
}
