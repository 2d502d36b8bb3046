package lambda

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	keptLines   = 200       // of one process, for when its invocation fails
	longestLine = 64 * 1024 // bytes; the rest of a line goes on as another
)

// output is where lines of all functions come together.
type output struct {
	mu      sync.Mutex
	to      io.Writer
	verbose bool
}

func (o *output) print(function, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(o.to, "%s | %s\n", function, line)
}

func (o *output) of(function string) *lines {
	return &lines{out: o, function: function, showing: o.verbose}
}

// lines takes what one process prints, keeps the last lines and shows them when the invocation fails. What a process warns of until
// its first invocation has ended is shown at once: nearly always it is about the program, not about the invocation.
type lines struct {
	out      *output
	function string

	mu      sync.Mutex
	partial []byte
	kept    []string
	showing bool
	begins  int // invocations that began
}

// Write never fails.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, b...)
	for {
		at := bytes.IndexByte(l.partial, '\n')
		switch {
		case at >= 0:
			l.line(string(l.partial[:at]))
			l.partial = l.partial[at+1:]
		case len(l.partial) > longestLine:
			l.line(string(l.partial[:longestLine]))
			l.partial = l.partial[longestLine:]
		default:
			return len(b), nil
		}
	}
}

func (l *lines) line(s string) {
	if l.showing || l.begins <= 1 && strings.Contains(s, `"level":"WARN"`) {
		l.out.print(l.function, s)
		return
	}
	if len(l.kept) == keptLines {
		l.kept = append(l.kept[:0], l.kept[1:]...)
	}
	l.kept = append(l.kept, s)
}

// show prints what is kept, and every line from now on until begin.
func (l *lines) show() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.kept {
		l.out.print(l.function, s)
	}
	l.kept, l.showing = nil, true
}

// begin forgets what the invocation before had printed. What a process printed while starting belongs to its first.
func (l *lines) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begins++; l.begins > 1 {
		l.kept, l.showing = nil, l.out.verbose
	}
}

// flush ends the last line when the process has ended.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.line(string(l.partial))
		l.partial = nil
	}
}
