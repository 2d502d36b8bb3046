package main

import (
	"bytes"
	"io"
	"sync"
)

// logWriter writes log lines beside an answer that streams: while the answer stands in the middle of a line they wait.
// A nil one drops them. It is safe for concurrent use.
type logWriter struct {
	mu      sync.Mutex
	to      io.Writer
	held    bool
	waiting bytes.Buffer
}

// Write implements io.Writer.
func (l *logWriter) Write(line []byte) (int, error) {
	if l == nil {
		return len(line), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held {
		return l.waiting.Write(line)
	}
	return l.to.Write(line)
}

// hold makes lines wait, or lets them go.
func (l *logWriter) hold(held bool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
	if !held {
		_, _ = l.waiting.WriteTo(l.to) // a log that cannot be written has nowhere to say so
	}
}
