// Package workspace is the small folder of files that a session has: what a message brought, what tools wrote, and the files that come
// with the program, which every session sees until it writes over them. Files are text. The package keeps nothing outside of a
// session's rows and lets no path out of it.
package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Rows keep files, as the store's table does.
type Rows interface {
	PutFile(ctx context.Context, sessionID, path, content string, expires int64) error
	File(ctx context.Context, sessionID, path string) (string, error)
	Files(ctx context.Context, sessionID string) ([]contract.FileInfo, error)
	TagFile(ctx context.Context, sessionID, path, artifact string) error
}

// Workspace is a session's files. It is a tool.Files. Two writers at once may pass the limits of number and size by what they write
// at that moment.
type Workspace struct {
	Rows      Rows
	SessionID string
	Expires   int64 // the session's own end in seconds, or 0
	Seed      fs.FS // files of the program; nil: none
}

// ReadFile gives a file's text. Faults: Invalid, NotFound, Unavailable.
func (w Workspace) ReadFile(ctx context.Context, path string) (string, error) {
	if err := contract.CheckFilePath(path); err != nil {
		return "", err
	}
	content, err := w.Rows.File(ctx, w.SessionID, path)
	if !fault.Is(err, fault.NotFound) || w.Seed == nil {
		return content, err
	}
	seed, missing := fs.ReadFile(w.Seed, path)
	if missing != nil {
		return "", err
	}
	return string(seed), nil
}

// WriteFile makes or replaces a file. Idempotent. Faults: Invalid, Limit, Unavailable.
func (w Workspace) WriteFile(ctx context.Context, path, content string) error {
	if err := contract.CheckFile(path, content); err != nil {
		return err
	}
	files, err := w.Rows.Files(ctx, w.SessionID)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f contract.FileInfo) bool { return f.Path == path })
	total := int64(len(content))
	for _, f := range files {
		total += f.Bytes
	}
	switch {
	case len(files) >= contract.MaxFiles:
		return fault.New(fault.Limit, "file %s: the session has %d files, the limit is %d", path, len(files), contract.MaxFiles)
	case total > contract.MaxWorkspaceSize:
		return fault.New(fault.Limit, "file %s: the session's files would have %d bytes, the limit is %d", path, total, contract.MaxWorkspaceSize)
	}
	return w.Rows.PutFile(ctx, w.SessionID, path, content, w.Expires)
}

// TagFile makes a file known as an artifact. A file of the program becomes the session's own by it. Idempotent. Faults: Invalid,
// NotFound, Limit, Unavailable.
func (w Workspace) TagFile(ctx context.Context, path, artifact string) (contract.FileInfo, error) {
	if err := contract.CheckArtifact(artifact); err != nil {
		return contract.FileInfo{}, err
	}
	content, err := w.ReadFile(ctx, path)
	if err != nil {
		return contract.FileInfo{}, err
	}
	tagged := contract.FileInfo{Path: path, Bytes: int64(len(content)), Artifact: artifact}
	err = w.Rows.TagFile(ctx, w.SessionID, path, artifact)
	if fault.Is(err, fault.NotFound) { // it is the program's
		if err = w.WriteFile(ctx, path, content); err == nil {
			err = w.Rows.TagFile(ctx, w.SessionID, path, artifact)
		}
	}
	return tagged, err
}

// ListFiles describes all files, ordered by path: the session's own and those of the program it has not written over. Faults:
// Unavailable.
func (w Workspace) ListFiles(ctx context.Context) ([]contract.FileInfo, error) {
	files, err := w.Rows.Files(ctx, w.SessionID)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, f := range files {
		own[f.Path] = true
	}
	seeds, err := w.seeds()
	for _, f := range seeds {
		if !own[f.Path] {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b contract.FileInfo) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

func (w Workspace) seeds() (files []contract.FileInfo, err error) {
	if w.Seed == nil {
		return nil, nil
	}
	err = fs.WalkDir(w.Seed, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || contract.CheckFilePath(path) != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files = append(files, contract.FileInfo{Path: path, Bytes: info.Size()})
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, fault.Wrap(fault.Internal, err, "list the program's files")
}
