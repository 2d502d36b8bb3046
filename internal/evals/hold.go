package evals

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Hold keeps the workspace for one process until release: two that write to it at the same time would run every case twice and mix
// their results. The system releases it when the process ends, however it ends. Faults: Conflict while another holds it.
func (w Workspace) Hold() (release func(), err error) {
	if err := os.MkdirAll(string(w), 0o755); err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	dir, err := os.Open(string(w))
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	release = func() { _ = dir.Close() } // only its lock matters
	err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		release()
		return nil, fault.New(fault.Conflict, "the workspace %s is in use by another run: wait for its end, or name another with --workspace", string(w))
	}
	return release, nil // also on file systems without locks
}
