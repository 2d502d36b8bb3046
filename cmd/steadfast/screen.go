package main

import (
	"io"
	"regexp"
)

// commands are the characters by which a text would command a terminal: all controls but the end of a line and the tabulator. What begins
// as bold, dim or another rendition is let through whole.
var commands = regexp.MustCompile(`\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f]|[\x{80}-\x{9f}]`)

// screen is a terminal that answers are shown on. What a model says, or a tool that it asked, may hold escape sequences: they are taken
// out, so that nobody's clipboard, title or screen is written by a text.
type screen struct{ to io.Writer }

// Write implements io.Writer. A sequence that is cut between two calls is no sequence.
func (s screen) Write(p []byte) (int, error) {
	harmless := commands.ReplaceAllFunc(p, func(found []byte) []byte {
		if len(found) > 1 && found[0] == 0x1b {
			return found
		}
		return nil
	})
	if _, err := s.to.Write(harmless); err != nil {
		return 0, err
	}
	return len(p), nil
}
