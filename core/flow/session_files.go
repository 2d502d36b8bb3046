package flow

import (
	"context"
	"io/fs"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/workspace"
)

// SessionFiles reads the files of a session for its owner.
type SessionFiles struct {
	Edges
	Seed fs.FS // files of the program, seen where the session has not written over them; nil: none
}

// FileOf names a file of a session and who asks. No path: the list.
type FileOf struct {
	SessionOf
	Path string
}

// FileOut is the text of a file, or the list when none was named.
type FileOut struct {
	List    *contract.SessionFiles
	Path    string
	Content string
}

// Do reads what is named. Faults: Invalid, NotFound, Denied, Unavailable.
func (f SessionFiles) Do(ctx context.Context, in FileOf) (FileOut, error) {
	if in.Path == "" {
		list, err := f.List(ctx, in.SessionOf)
		return FileOut{List: &list}, err
	}
	if err := contract.CheckFilePath(in.Path); err != nil {
		return FileOut{}, err
	}
	w, err := f.open(ctx, in.SessionOf)
	if err != nil {
		return FileOut{}, err
	}
	content, err := w.ReadFile(ctx, in.Path)
	return FileOut{Path: in.Path, Content: content}, err
}

// List describes all files, ordered by path. Faults: Invalid, NotFound, Denied, Unavailable.
func (f SessionFiles) List(ctx context.Context, in SessionOf) (contract.SessionFiles, error) {
	w, err := f.open(ctx, in)
	if err != nil {
		return contract.SessionFiles{}, err
	}
	files, err := w.ListFiles(ctx)
	if files == nil {
		files = []contract.FileInfo{}
	}
	return contract.SessionFiles{Files: files}, err
}

func (f SessionFiles) open(ctx context.Context, in SessionOf) (workspace.Workspace, error) {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return workspace.Workspace{}, err
	}
	_, err := f.mine(ctx, in)
	return workspace.Workspace{Rows: f.Table, SessionID: in.SessionID, Seed: f.Seed}, err
}
