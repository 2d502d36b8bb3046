package cloud

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lock is held on a data folder by the one cloud that uses it. The system gives it back when the process ends, however
// it ends.
type lock struct{ file *os.File }

func takeLock(folder string) (*lock, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("open the data folder: %w", err)
	}
	path := filepath.Join(folder, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the data folder: %w", err)
	}
	if err := flock(f); err != nil {
		defer func() { _ = f.Close() }()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("the data folder %s is in use by another local cloud%s", folder, holder(path))
		}
		return nil, fmt.Errorf("lock the data folder %s: %w", folder, err)
	}
	_ = f.Truncate(0) // the number is for people: without it the lock is as good
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	return &lock{f}, nil
}

// patience is how long a lock is asked for: a process that was just killed while it started another may hold it a moment longer, in
// the copy that had not become a program of its own yet.
const patience = time.Second

func flock(f *os.File) error {
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(until) {
			return err
		}
	}
}

func holder(path string) string {
	pid, err := os.ReadFile(path)
	if err != nil || len(pid) == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %s)", strings.TrimSpace(string(pid)))
}

func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
