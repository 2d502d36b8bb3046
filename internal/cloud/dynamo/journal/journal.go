// Package journal keeps the state of one local service safe across kill -9: an append-only file of checksummed lines,
// fsynced before its writer goes on, with one sync for all who wait at the same time, and rewritten from the living
// state when it has grown large.
//
// A last line without its end (the process died while writing) is dropped when the file is opened, because nobody
// was told that it was safe. Anything else that does not check out is an error naming file and line; nothing is
// guessed or skipped. The package does not know what the records mean.
package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// compactAt is the size in bytes from which a file that doubled since its last rewrite is due for one.
const compactAt = 1 << 20

// Journal is safe for concurrent use. A nil Journal keeps nothing and never fails: the service is in memory.
type Journal struct {
	path string

	mu      sync.Mutex
	arrived sync.Cond // pending grew, or the journal is closing
	synced  sync.Cond // done moved, or err was set
	file    *os.File
	pending []byte
	next    int64 // records appended
	done    int64 // records safe on disk
	size    int64 // bytes in the file, pending ones too
	base    int64 // size after the last rewrite
	closing bool
	stopped chan struct{}
	err     error // sticks: after a failed write nothing can be promised
}

// Open reads dir/name.log (made if missing, with dir) and hands every record to replay in the order of their writing.
func Open(dir, name string, replay func(record []byte) error) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", name, err)
	}
	j := &Journal{path: filepath.Join(dir, name+".log"), stopped: make(chan struct{})}
	j.arrived.L, j.synced.L = &j.mu, &j.mu
	size, err := load(j.path, replay)
	if err != nil {
		return nil, err
	}
	if j.file, err = openAppend(j.path, size); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", j.path, err)
	}
	j.size, j.base = size, size
	go j.flush()
	return j, nil
}

// Append takes a record (no newline inside) to be written in order, and gives the position to Wait for. It does not
// block on the disk; call it under the lock that orders the state changes.
func (j *Journal) Append(record []byte) int64 {
	if j == nil {
		return 0
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	before := len(j.pending)
	j.pending = appendLine(j.pending, record)
	j.size += int64(len(j.pending) - before)
	j.next++
	j.arrived.Signal()
	return j.next
}

// Position is what a reader waits for so that nothing it saw can be lost.
func (j *Journal) Position() int64 {
	if j == nil {
		return 0
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next
}

// Wait returns once every record up to position is on disk, or with the failure that will keep it from ever being.
func (j *Journal) Wait(position int64) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.done < position && j.err == nil {
		j.synced.Wait()
	}
	if j.done >= position {
		return nil
	}
	return j.err
}

// Large reports whether Compact is due.
func (j *Journal) Large() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size > compactAt && j.size > 2*j.base
}

// Compact replaces the file by the records that state emits, which must describe everything appended so far. The caller
// holds the lock under which it appends, so that nothing is appended meanwhile.
func (j *Journal) Compact(state func(emit func(record []byte) error) error) error {
	if j == nil {
		return nil
	}
	if err := j.Wait(j.Position()); err != nil {
		return err
	}
	size, err := rewrite(j.path, state)
	if err != nil {
		return fmt.Errorf("compact journal %s: %w", j.path, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	file, err := openAppend(j.path, size)
	if err != nil {
		j.err = fmt.Errorf("reopen journal %s: %w", j.path, err)
		return j.err
	}
	_ = j.file.Close() // the old file has no name any more
	j.file, j.size, j.base = file, size, size
	return nil
}

// Close writes what is pending and ends. Append after Close is lost, and its Wait says so.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	if !j.closing {
		j.closing = true
		j.arrived.Signal()
	}
	j.mu.Unlock()
	<-j.stopped
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.err, errClosed) {
		return nil
	}
	err := j.err
	if cerr := j.file.Close(); err == nil {
		err = cerr
	}
	j.err = errors.Join(err, errClosed)
	j.synced.Broadcast()
	return err
}

var errClosed = errors.New("the journal is closed")

// flush writes and syncs whatever has gathered, again and again: all writers of one round share its sync.
func (j *Journal) flush() {
	defer close(j.stopped)
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		for len(j.pending) == 0 && !j.closing {
			j.arrived.Wait()
		}
		if len(j.pending) == 0 || j.err != nil {
			return
		}
		batch, upTo, file := j.pending, j.next, j.file
		j.pending = nil
		j.mu.Unlock()
		err := writeSync(file, batch)
		j.mu.Lock()
		if err != nil {
			j.err = fmt.Errorf("write journal %s: %w", j.path, err)
		} else {
			j.done = upTo
		}
		j.synced.Broadcast()
	}
}

func writeSync(f *os.File, b []byte) error {
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Sync()
}
