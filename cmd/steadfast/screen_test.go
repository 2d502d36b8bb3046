package main

import (
	"strings"
	"testing"
)

// TestTextsDoNotCommandATerminal: a model, or a page that a tool has read, may say anything.
func TestTextsDoNotCommandATerminal(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"words", "naïve \t “words”\nand lines\n", "naïve \t “words”\nand lines\n"},
		{"our own rendition", "\x1b[1m> \x1b[0mhello", "\x1b[1m> \x1b[0mhello"},
		{"the clipboard", "a\x1b]52;c;cm0gLXJm\x07b", "a]52;c;cm0gLXJmb"},
		{"a line above", "a\x1b[1A\x1b[2Kb", "a[1A[2Kb"},
		{"backwards", "sure\rnever\b\b", "surenever"},
		{"eight bits", "a\u009b2Jb", "a2Jb"},
		{"no text", "\xff\xfe", "\xff\xfe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var shown strings.Builder
			n, err := screen{&shown}.Write([]byte(tt.text))
			if n != len(tt.text) || err != nil {
				t.Errorf("Write = %d, %v, want %d", n, err, len(tt.text))
			}
			same(t, "shown", shown.String(), tt.want)
		})
	}
}
