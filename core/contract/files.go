package contract

import (
	"cmp"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// FileInfo describes a file of a session's workspace.
type FileInfo struct {
	Path     string `json:"path"`
	Bytes    int64  `json:"bytes"`
	Artifact string `json:"artifact,omitempty"` // what it was tagged as
}

// SessionFiles is the answer of GET /agent/sessions/{sessionId}/files: every file, ordered by path.
type SessionFiles struct {
	Files []FileInfo `json:"files"`
}

// Limits of a session's workspace.
const (
	MaxFilePath      = 200      // bytes
	MaxFileBytes     = 1 << 20  // of one file
	MaxFiles         = 200      // of one session
	MaxWorkspaceSize = 10 << 20 // bytes of all files of one session
	MaxArtifactBytes = 200      // of the word that a file is tagged with
)

// Limits of the files that come with a message.
const (
	MaxSendFiles = 20
	MaxSendBytes = 300 * 1024 // of the message's text, its files and their paths together
)

// CheckFilePath returns an error unless path can name a file: relative, separated by slashes, without empty parts, "." or "..", at
// most MaxFilePath bytes. Faults: Invalid.
func CheckFilePath(path string) error {
	switch {
	case len(path) > MaxFilePath:
		return fault.New(fault.Invalid, "path: %d bytes, the limit is %d", len(path), MaxFilePath)
	case !fs.ValidPath(path) || path == "." || strings.ContainsRune(path, '\\') || strings.IndexFunc(path, unicode.IsControl) >= 0:
		return fault.New(fault.Invalid, "path %q: want a relative path like notes/today.md, without .. and \\", path)
	}
	return nil
}

// CheckFile returns an error unless a file of this path may hold content. Faults: Invalid (path, or not UTF-8), Limit (size).
func CheckFile(path, content string) error {
	switch err := CheckFilePath(path); {
	case err != nil:
		return err
	case len(content) > MaxFileBytes:
		return fault.New(fault.Limit, "file %s: %d bytes, the limit is %d", path, len(content), MaxFileBytes)
	case !utf8.ValidString(content):
		return fault.New(fault.Invalid, "file %s: want text in UTF-8", path)
	}
	return nil
}

// CheckSend returns an error unless a message of this text may bring these files. Faults: Invalid.
func CheckSend(text string, files map[string]string) error {
	if len(files) > MaxSendFiles {
		return fault.New(fault.Invalid, "files: %d, the limit is %d", len(files), MaxSendFiles)
	}
	size := len(text)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := CheckFile(path, files[path]); err != nil {
			return fault.New(fault.Invalid, "files: %s", fault.Public(err))
		}
		size += len(path) + len(files[path])
	}
	if size > MaxSendBytes && len(files) > 0 {
		return fault.New(fault.Invalid, "files: %d bytes with the message, the limit is %d", size, MaxSendBytes)
	}
	return nil
}

// CheckArtifact returns an error unless a file may be tagged as artifact: 1 to MaxArtifactBytes bytes of UTF-8. Faults: Invalid.
func CheckArtifact(artifact string) error {
	return cmp.Or(
		problem(strings.TrimSpace(artifact) == "", "artifact: must not be empty"),
		problem(len(artifact) > MaxArtifactBytes, "artifact: is too long"),
		problem(!utf8.ValidString(artifact) || strings.IndexFunc(artifact, unicode.IsControl) >= 0, "artifact: must be one line of text"),
	)
}

func problem(there bool, text string) error {
	if !there {
		return nil
	}
	return fault.New(fault.Invalid, "%s", text)
}
