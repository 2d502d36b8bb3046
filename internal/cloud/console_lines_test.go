package cloud

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
)

func TestConsoleLines(t *testing.T) {
	tests := []struct {
		name string
		log  func(*slog.Logger)
		want string
	}{
		{"plain", func(l *slog.Logger) { l.Info("built", "function", "run-turn", "ms", 12) }, "built function=run-turn ms=12\n"},
		{"level", func(l *slog.Logger) { l.Warn("late") }, "WARN late\n"},
		{"debug is not shown", func(l *slog.Logger) { l.Debug("detail") }, ""},
		{"blanks", func(l *slog.Logger) { l.Info("x", "a", "two words", "b", "", "c", `"`) }, `x a="two words" b="" c="\""` + "\n"},
		{"lines", func(l *slog.Logger) { l.Error("failed", "error", errors.New("a.go:1\n\tb")) }, "ERROR failed error=\n  a.go:1\n  \tb\n"},
		{"terminal codes", func(l *slog.Logger) { l.Info("x", "a", "\x1b[2J\nb") }, `x a="\x1b[2J\nb"` + "\n"},
		{"groups", func(l *slog.Logger) { l.With("a", 1).WithGroup("g").With("b", 2).Info("x", "c", 3) }, "x a=1 g.b=2 g.c=3\n"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			tc.log(slog.New(newConsole(&out)))
			got := out.String()
			if len(got) > len("15:04:05 ") {
				got = got[len("15:04:05 "):]
			}
			if got != tc.want {
				t.Errorf("= %q, want %q", got, tc.want)
			}
		})
	}
}
