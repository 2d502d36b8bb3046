package tool

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// Files is the workspace of the session that a call runs for. Paths are relative, with slashes. Faults of all: Invalid for a path that
// leads outside or is not one, Unavailable.
type Files interface {
	// ReadFile gives a file's text. Faults: also NotFound.
	ReadFile(ctx context.Context, path string) (string, error)
	// WriteFile makes or replaces a file. Idempotent. Faults: also Limit.
	WriteFile(ctx context.Context, path, content string) error
	// TagFile makes a file known as an artifact, and says so in the session's log. Idempotent. Faults: also NotFound, Limit.
	TagFile(ctx context.Context, path, artifact string) (contract.FileInfo, error)
	// ListFiles describes all files by path.
	ListFiles(ctx context.Context) ([]contract.FileInfo, error)
}
