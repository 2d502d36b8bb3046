package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

// voice prints an answer as it comes: its text on stdout, what the agent does on stderr.
type voice struct{ midLine bool }

func (v *voice) listener(s *surroundings) client.Listener {
	if s.json {
		return client.Listener{Message: func(raw json.RawMessage) { fmt.Fprintln(s.stdout, compact(raw)) }}
	}
	return client.Listener{
		Text: func(piece string) { v.text(s, piece) },
		Tool: func(name string) { v.aside(s, "[%s]", name) },
		Again: func(kept string) {
			v.aside(s, "[the answer broke off: what was shown of it does not count]")
			v.text(s, kept)
		},
		Dropped: func(cause, err error) {
			if err == nil {
				v.aside(s, "[the connection was lost and is back]")
			}
		},
	}
}

func (v *voice) text(s *surroundings, piece string) {
	if piece == "" {
		return
	}
	s.log.hold(true)
	fmt.Fprint(s.stdout, piece)
	v.midLine = !strings.HasSuffix(piece, "\n")
	s.log.hold(v.midLine)
}

func (v *voice) aside(s *surroundings, format string, args ...any) {
	v.endLine(s)
	s.note(format, args...)
}

func (v *voice) endLine(s *surroundings) {
	if v.midLine {
		fmt.Fprintln(s.stdout)
		v.midLine = false
		s.log.hold(false)
	}
}
