package cloud

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// console is a slog.Handler that writes short lines for people: time, what, and key=value. Info carries no level.
type console struct {
	mu    *sync.Mutex
	to    io.Writer
	attrs []slog.Attr
	group string
}

func newConsole(to io.Writer) *console { return &console{mu: new(sync.Mutex), to: to} }

func (c *console) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (c *console) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *c
	out.attrs = append([]slog.Attr{}, c.attrs...)
	for _, a := range attrs {
		a.Key = c.group + a.Key
		out.attrs = append(out.attrs, a)
	}
	return &out
}

func (c *console) WithGroup(name string) slog.Handler {
	out := *c
	out.group = c.group + name + "."
	return &out
}

func (c *console) Handle(_ context.Context, r slog.Record) error {
	var line bytes.Buffer
	line.WriteString(r.Time.Format("15:04:05 "))
	if r.Level != slog.LevelInfo {
		line.WriteString(r.Level.String() + " ")
	}
	line.WriteString(r.Message)
	for _, a := range c.attrs {
		writeAttr(&line, a)
	}
	r.Attrs(func(a slog.Attr) bool {
		a.Key = c.group + a.Key
		writeAttr(&line, a)
		return true
	})
	line.WriteByte('\n')
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.to.Write(line.Bytes())
	return err
}

func writeAttr(to *bytes.Buffer, a slog.Attr) {
	value := a.Value.Resolve().String()
	hidden := func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }
	switch {
	case strings.ContainsFunc(value, hidden):
		value = strconv.Quote(value)
	case strings.Contains(value, "\n"): // a compiler's words stay readable
		value = "\n  " + strings.ReplaceAll(strings.TrimSpace(value), "\n", "\n  ")
	case value == "" || strings.ContainsAny(value, " \"="):
		value = strconv.Quote(value)
	}
	fmt.Fprintf(to, " %s=%s", a.Key, value)
}
