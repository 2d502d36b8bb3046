// Package workspace is the small folder of files that a session has: what a message brought, what tools wrote, and the files that come
// with the program, which every session sees until it writes over them. Files are text. The package keeps nothing outside of a
// session's rows and lets no path out of it.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Rows keep files, as the store's table does.
type Rows interface {
	PutFile(ctx context.Context, sessionID, path, content string, expires int64) error
	File(ctx context.Context, sessionID, path string) (string, error)
	Files(ctx context.Context, sessionID string) ([]contract.FileInfo, error)
}

// Workspace is a session's files. It is a tool.Files. Two writers at once may pass the limits of number and size by what they write
// at that moment.
type Workspace struct {
	Rows      Rows
	SessionID string
	Expires   int64 // the session's own end in seconds, or 0
	Seed      fs.FS // files of the program; nil: none
}

// CheckPath reports why a path cannot name a file: it must be relative, with slashes, without "." or ".." or empty parts. Faults:
// Invalid.
func CheckPath(path string) error {
	switch {
	case len(path) > contract.MaxFilePath:
		return fault.New(fault.Invalid, "path: %d bytes, the limit is %d", len(path), contract.MaxFilePath)
	case !fs.ValidPath(path) || path == "." || strings.ContainsRune(path, '\\') || strings.IndexFunc(path, unicode.IsControl) >= 0:
		return fault.New(fault.Invalid, "path %q: want a relative path like notes/today.md, without .. and \\", path)
	}
	return nil
}

// CheckContent reports why a text cannot be a file's. Faults: Invalid, Limit.
func CheckContent(path, content string) error {
	switch {
	case len(content) > contract.MaxFileBytes:
		return fault.New(fault.Limit, "file %s: %d bytes, the limit is %d", path, len(content), contract.MaxFileBytes)
	case !utf8.ValidString(content):
		return fault.New(fault.Invalid, "file %s: want text in UTF-8", path)
	}
	return nil
}

// ReadFile gives a file's text. Faults: Invalid, NotFound, Unavailable.
func (w Workspace) ReadFile(ctx context.Context, path string) (string, error) {
	if err := CheckPath(path); err != nil {
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
	if err := cmp.Or(CheckPath(path), CheckContent(path, content)); err != nil {
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
		if err != nil || entry.IsDir() || CheckPath(path) != nil {
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
