package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
)

const pingEvery = 4 * time.Minute // an idle connection is closed after 10 minutes

// Chat is a conversation over one session. It connects when it has to. Ask is for one goroutine at a time, Stop for any.
type Chat struct {
	Client    *Client
	SessionID string // a UUID or the id of an own session; it need not exist yet

	mu     sync.Mutex
	socket *socket
}

// Ask sends text and waits for the end of the turn that answers it, as long as it takes. A connection that drops is opened
// again once, and the rest of the answer asked for; nothing is said twice. Errors are *Error: the turn's own, or what kept it from
// being seen. When ctx ends, the turn goes on without us.
func (c *Chat) Ask(ctx context.Context, text string, on Listener) (Answer, error) {
	if err := CheckSize("message", text); err != nil {
		return Answer{SessionID: c.SessionID}, err
	}
	m := contract.ClientMessage{Request: text, SessionID: c.SessionID, DeliveryID: uuid.NewString()}
	a := newAnswer(c.SessionID, m.DeliveryID)
	err := c.turn(ctx, m, a, on)
	if lost(ctx, err) {
		cause := err
		err = c.resume(ctx, m, a)
		if on.Dropped != nil {
			on.Dropped(cause, err)
		}
		if err == nil {
			err = c.follow(ctx, a, on)
		}
		if lost(ctx, err) {
			err = &Error{Code: "connection_lost", Message: "the connection was lost twice; the turn goes on without it: " + closing(err)}
		}
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return *a, err
}

func (c *Chat) turn(ctx context.Context, m contract.ClientMessage, a *Answer, on Listener) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	if err := c.current().send(ctx, m); err != nil {
		return err
	}
	return c.follow(ctx, a, on)
}

// resume connects again. The same delivery may be sent twice and is answered once; when the answer has begun, only the
// rest is asked for.
func (c *Chat) resume(ctx context.Context, m contract.ClientMessage, a *Answer) error {
	c.Close()
	if err := c.open(ctx); err != nil {
		return err
	}
	if a.TurnID != "" && a.last >= 0 {
		next := a.last + 1
		m = contract.ClientMessage{Action: "subscribe", SessionID: c.SessionID, StartIndex: &next}
	}
	return c.current().send(ctx, m)
}

// follow reads until the turn ends.
func (c *Chat) follow(ctx context.Context, a *Answer, on Listener) error {
	s := c.current()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-ping.C:
				_ = s.send(ctx, contract.ClientMessage{Action: "ping"}) // the reader sees what is wrong
			}
		}
	}()
	for {
		m, raw, err := s.next(ctx)
		if err != nil {
			return err
		}
		if on.Message != nil {
			on.Message(raw)
		}
		if over, err := a.take(m, on); over {
			return err
		}
	}
}

// Stop asks for the running turn to end. Its end is still told to Ask.
func (c *Chat) Stop(ctx context.Context) error {
	s := c.current()
	if s == nil {
		return nil
	}
	return s.send(ctx, contract.ClientMessage{Action: "stop", SessionID: c.SessionID})
}

// Close leaves the conversation. It can go on with the next Ask.
func (c *Chat) Close() {
	c.mu.Lock()
	s := c.socket
	c.socket = nil
	c.mu.Unlock()
	if s != nil {
		s.close()
	}
}

func (c *Chat) current() *socket {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.socket
}

func (c *Chat) open(ctx context.Context) error {
	if c.current() != nil {
		return nil
	}
	at := c.Client.WSURL
	if at == "" {
		there, err := c.Client.Connect(ctx, c.SessionID)
		if err != nil {
			return err
		}
		at = there.WSURL
	}
	s, err := c.Client.dial(ctx, at)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.socket = s
	return nil
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
