// Package workspace is the folder of files that every session finds in its own workspace, until it writes over them. They lie beside
// this file, in folders as you like.
package workspace

import (
	"embed"
	"io/fs"

	"github.com/steadfast-agents/steadfast/core/workspace"
)

//go:embed all:*
var folder embed.FS

// Files are all files of the folder but the Go files beside this one.
func Files() fs.FS { return workspace.Program(folder) }
