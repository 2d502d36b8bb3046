package contract

// FileInfo describes a file of a session's workspace.
type FileInfo struct {
	Path     string `json:"path"`
	Bytes    int64  `json:"bytes"`
	Artifact string `json:"artifact,omitempty"` // what it was tagged as
}

// Limits of a session's workspace.
const (
	MaxFilePath      = 200      // bytes
	MaxFileBytes     = 1 << 20  // of one file
	MaxFiles         = 200      // of one session
	MaxWorkspaceSize = 10 << 20 // bytes of all files of one session
)
