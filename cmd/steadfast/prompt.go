package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

// converse says each line of stdin until its end, /quit or an interrupt between turns.
func (t *talk) converse(ctx context.Context) error {
	if t.s.asks {
		t.s.note("session %s. /new begins another, /quit leaves, ctrl-c stops an answer.", t.chat.SessionID)
	}
	t.lines = read(ctx, t.s.stdin)
	var last error
	for {
		if t.s.asks && !t.s.json {
			fmt.Fprint(t.s.stdout, t.s.bold("> "))
		}
		select {
		case <-ctx.Done():
			t.s.note("")
			return nil
		case line, more := <-t.lines:
			if !more {
				if t.s.asks {
					t.s.note("") // the shell's prompt does not stand behind ours
				}
				return t.leave(last)
			}
			switch line = strings.TrimSpace(line); line {
			case "":
			case "/quit", "/exit":
				return t.leave(last)
			case "/new":
				t.chat.SessionID = uuid.NewString()
				t.s.note("session %s", t.chat.SessionID)
			default:
				if last = t.say(ctx, line); !t.goesOn(last) {
					return last
				}
			}
		}
	}
}

// leave ends a conversation. A person has seen what failed; a program learns the last failure from the exit status.
func (t *talk) leave(last error) error {
	if t.s.asks {
		return nil
	}
	return last
}

// goesOn reports whether the conversation survives err, after showing it to a person.
func (t *talk) goesOn(err error) bool {
	var told *client.Error
	switch {
	case err == nil:
		return true
	case !errors.As(err, &told) || !t.s.asks:
		return false
	}
	t.s.report(err)
	return told.Code != "unauthorized"
}

// read gives the lines of in until it ends. A line may be as long as it likes: the limit of a message names itself.
func read(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// turnSwitch knows whether a turn runs and was asked to stop. It is safe for concurrent use.
type turnSwitch struct {
	mu               sync.Mutex
	running, stopped bool
}

func (s *turnSwitch) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.stopped = true, false
}

// end reports whether the turn was asked to stop.
func (s *turnSwitch) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	return s.stopped
}

// stop reports whether there was a turn to stop that had not been asked to.
func (s *turnSwitch) stop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.running && !s.stopped
	s.stopped = s.running
	return first
}
