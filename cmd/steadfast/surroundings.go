package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/recall"
)

// surroundings is what a command sees of the machine.
type surroundings struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	log            *logWriter // of the local cloud
	interrupts     <-chan os.Signal
	abort          func() // ends the program when an end in good order takes too long for somebody; nil: never
	program        string // how this program was called
	start          func(ctx context.Context, d dev, s *surroundings) (*host, error)
	book           recall.Book   // empty: the user's own
	poll           time.Duration // between two looks at a task; 0: a second
	json           bool
	live           bool // stdout is a terminal: colours
	asks           bool // stdin is a terminal: prompts
}

func (s surroundings) complete() surroundings {
	s.live = s.live || terminal(s.stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	s.asks = s.asks || terminal(s.stdin)
	if terminal(s.stdout) {
		s.stdout = screen{s.stdout}
	}
	if terminal(s.stderr) {
		s.stderr = screen{s.stderr}
	}
	s.log = &logWriter{to: s.stderr}
	if s.poll == 0 {
		s.poll = time.Second
	}
	return s
}

func terminal(of any) bool {
	f, ok := of.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device too, and nobody sits there
	return err != nil || !os.SameFile(info, null)
}

// context ends with the first interrupt; the second one aborts. done must be called at the very end.
func (s *surroundings) context() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-over:
				return
			case <-s.interrupts:
			}
			cancel()
			if !first && s.abort != nil {
				s.abort()
			}
		}
	}()
	return ctx, func() {
		cancel()
		close(over)
	}
}

// client gives the caller of the stack: with the token that was given, else with the dev host's for the user.
func (c *cli) client(ctx context.Context) (*client.Client, error) {
	out := &client.Client{URL: c.URL, WSURL: c.WSURL, Token: c.JWT}
	if c.JWT != "" {
		return out, nil
	}
	if !client.Loopback(c.URL) {
		return nil, &client.Error{Code: "unauthorized", Message: "no token for " + c.URL + ": give one with --token or STEADFAST_TOKEN"}
	}
	out.Renew = func(ctx context.Context) (string, error) {
		return client.DevToken(ctx, http.DefaultClient, c.URL, c.User)
	}
	var err error
	out.Token, err = out.Renew(ctx)
	return out, err
}

// print writes raw JSON as one line, or else the text.
func (s *surroundings) print(raw json.RawMessage, format string, args ...any) {
	if s.json {
		fmt.Fprintln(s.stdout, compact(raw))
		return
	}
	fmt.Fprintf(s.stdout, format+"\n", args...)
}

// note tells people, never programs, what goes on.
func (s *surroundings) note(format string, args ...any) {
	if !s.json {
		fmt.Fprintln(s.stderr, s.dim(fmt.Sprintf(format, args...)))
	}
}

func (s *surroundings) dim(text string) string { return s.style("2", text) }

func (s *surroundings) bold(text string) string { return s.style("1", text) }

func (s *surroundings) style(code, text string) string {
	if !s.live {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
