package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/steadfast-agents/steadfast/core/contract"
)

const (
	quiet   = 10 * time.Second
	retry   = time.Second
	reopens = 5 // tries to open a lost connection again
)

// again connects once more after cause and sees the turn to its end. When the answer has begun, the rest is asked for;
// a stack that cannot do that, or has not begun, gets the same delivery again, which it answers once.
func (c *Chat) again(ctx context.Context, m contract.ClientMessage, a *Answer, on Listener, cause error) error {
	c.Close()
	err := c.reopen(ctx)
	if on.Dropped != nil {
		on.Dropped(cause, err)
	}
	if err != nil {
		return err
	}
	if from := a.from(); a.TurnID != "" && from >= 0 { // what comes twice is known by its offset
		err = c.resume(ctx, contract.ClientMessage{Action: "subscribe", SessionID: c.SessionID, StartIndex: &from}, a, on)
		if err == nil || !a.refused {
			return err
		}
	}
	return c.resume(ctx, m, a, on)
}

// reopen connects to a stack that may be away for a moment.
func (c *Chat) reopen(ctx context.Context) error {
	pause := c.Retry
	if pause <= 0 {
		pause = retry
	}
	for try := 1; ; try++ {
		err := c.open(ctx)
		var told *Error
		switch {
		case err == nil || !errors.As(err, &told):
			return err
		case told.Code != "unavailable" || try == reopens:
			return &Error{Status: told.Status, Code: told.Code, Message: "the connection was lost, and " + told.Message}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (c *Chat) resume(ctx context.Context, m contract.ClientMessage, a *Answer, on Listener) error {
	err := c.current().send(ctx, m)
	if err == nil {
		err = c.follow(ctx, a, on, c.watcher())
	}
	if lost(ctx, err) {
		return &Error{Code: "connection_lost", Message: "the connection was lost twice; the turn goes on without it: " + closing(err)}
	}
	return err
}

// watcher asks, while nothing is heard, whether the turn still runs.
type watcher struct {
	client  *Client
	session string
	quiet   time.Duration
	heard   atomic.Bool
	ended   atomic.Bool
}

func (c *Chat) watcher() *watcher {
	w := &watcher{client: c.Client, session: c.SessionID, quiet: c.Quiet}
	if w.quiet <= 0 {
		w.quiet = quiet
	}
	return w
}

// run closes s when the session has stood still twice in a row. A nil watcher does nothing.
func (w *watcher) run(ctx context.Context, s *socket) {
	if w == nil {
		return
	}
	tick := time.NewTicker(w.quiet)
	defer tick.Stop()
	for still := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.heard.Swap(false) || w.running(ctx) {
			still = 0
			continue
		}
		if still++; still == 2 && ctx.Err() == nil {
			w.ended.Store(true)
			s.close()
			return
		}
	}
}

// running reports whether the session works, or cannot be asked.
func (w *watcher) running(ctx context.Context) bool {
	raw, err := w.client.SessionByID(ctx, w.session)
	var view struct {
		Status string `json:"status"`
	}
	return err != nil || json.Unmarshal(raw, &view) != nil || view.Status == "" || view.Status == "running"
}

func (w *watcher) hear() {
	if w != nil {
		w.heard.Store(true)
	}
}

// explain turns the end of a connection that the watcher closed into what happened.
func (w *watcher) explain(err error) error {
	if w == nil || !w.ended.Load() {
		return err
	}
	return &Error{Code: "connection_lost", Message: "the turn ended while the connection was lost; session " + w.session + " has its answer"}
}

// lost reports whether err is the connection's end: neither the turn's, nor a refusal, nor the caller's wish.
func lost(ctx context.Context, err error) bool {
	var own *Error
	return err != nil && !errors.As(err, &own) && ctx.Err() == nil
}

// closing says why a connection ended.
func closing(err error) string {
	var end websocket.CloseError
	if errors.As(err, &end) {
		return fmt.Sprintf("closed with %d %s", end.Code, end.Reason)
	}
	return err.Error()
}
