package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/singleflight"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// link is the way to one server. It outlives sessions of the protocol: when the server forgets one, the link makes another.
type link struct {
	label, url string
	client     *http.Client
	timeout    time.Duration
	max        int
	log        *slog.Logger

	renewals singleflight.Group
	mu       sync.Mutex
	opened
	generation int // of the session
	closed     bool
}

// open makes the first connection.
func (l *link) open(ctx context.Context) error {
	o, err := l.dial(ctx)
	if err == nil {
		l.opened = o
	}
	return err
}

// current gives the generation and the tools of the session that is open.
func (l *link) current() (generation int, tools []*sdk.Tool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.generation, l.tools
}

// kept reports whether the link may serve a later turn.
func (l *link) kept() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.old && !l.closed && !l.changed.Load()
}

// call calls a tool by the server's own name for it. When the server has forgotten the session, or the connection had ended
// before anything was sent, it connects anew and asks once more; a call that may have been worked on is never repeated here.
func (l *link) call(ctx context.Context, name string, input json.RawMessage) (*sdk.CallToolResult, error) {
	for again := false; ; again = true {
		l.mu.Lock()
		session, generation := l.session, l.generation
		l.mu.Unlock()
		call, n := withNotes(ctx)
		result, err := session.CallTool(call, &sdk.CallToolParams{Name: name, Arguments: input})
		if err == nil {
			return result, nil
		}
		if again || ctx.Err() != nil || n.sent.Load() && !n.lost.Load() {
			return nil, l.failure(ctx, err, n)
		}
		if err := l.renew(ctx, generation); err != nil {
			return nil, err
		}
		if !l.has(name) {
			return nil, fault.New(fault.Invalid, "the MCP server %s has no tool %q any more", l.label, name)
		}
	}
}

func (l *link) has(name string) bool {
	_, tools := l.current()
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// renew replaces the session of the given generation. All who ask at the same time wait for one attempt.
func (l *link) renew(ctx context.Context, generation int) error {
	done := l.renewals.DoChan(strconv.Itoa(generation), func() (any, error) {
		if now, _ := l.current(); now != generation {
			return nil, nil
		}
		l.log.Info("MCP server is connected anew", "server", l.label)
		fresh, err := l.dial(context.WithoutCancel(ctx))
		if err != nil {
			return nil, fault.New(fault.Unavailable, "the MCP server %s has lost the session, and a new one failed: %s", l.label, fault.Public(err))
		}
		l.mu.Lock()
		old := l.opened
		l.opened, l.generation = fresh, l.generation+1
		closed := l.closed
		l.mu.Unlock()
		if closed {
			old = fresh
		}
		old.end()
		go shut(old.session)
		return nil, nil
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends the connection.
func (l *link) close() {
	l.mu.Lock()
	o, closed := l.opened, l.closed
	l.closed = true
	l.mu.Unlock()
	if closed || o.session == nil {
		return
	}
	shut(o.session)
	o.end()
}
