package client

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
)

const pingEvery = 4 * time.Minute // an idle connection is closed after 10 minutes

// Chat is a conversation over one session. It connects when it has to. Ask is for one goroutine at a time, Stop for any.
type Chat struct {
	Client    *Client
	SessionID string // a UUID or the id of an own session; it need not exist yet
	// Quiet is how long a connection that was opened again may say nothing before the session is asked whether the turn still
	// runs; 0: 10 s.
	Quiet time.Duration
	Retry time.Duration // between tries to open a lost connection again; 0: 1 s

	mu       sync.Mutex
	socket   *socket
	stopping bool // the running Ask was asked to stop
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
	c.setStopping(false)
	err := c.turn(ctx, m, a, on)
	if lost(ctx, err) {
		err = c.again(ctx, m, a, on, err)
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
	if c.isStopping() {
		return &Error{Code: "cancelled", Message: "stopped before it was sent"}
	}
	if err := c.current().send(ctx, m); err != nil {
		return err
	}
	return c.follow(ctx, a, on, nil)
}

// follow reads until the turn ends. watch, if there is one, gives up a turn whose end will not be told.
func (c *Chat) follow(ctx context.Context, a *Answer, on Listener, watch *watcher) error {
	s := c.current()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go ping(ctx, s)
	go watch.run(ctx, s)
	for {
		m, raw, err := s.next(ctx)
		if err != nil {
			return watch.explain(err)
		}
		watch.hear()
		if on.Message != nil {
			on.Message(raw)
		}
		before := a.TurnID
		if over, err := a.take(m, on); over {
			return err
		}
		if a.TurnID != before && c.isStopping() { // a stop may overtake the message that it means
			if err := c.sendStop(ctx); err != nil {
				return err
			}
		}
	}
}

func ping(ctx context.Context, s *socket) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.send(ctx, contract.ClientMessage{Action: "ping"}) // the reader sees what is wrong
		}
	}
}

// Stop asks for the running turn to end. Its end is still told to Ask. A message that is not sent yet never will be.
func (c *Chat) Stop(ctx context.Context) error {
	c.setStopping(true)
	return c.sendStop(ctx)
}

func (c *Chat) sendStop(ctx context.Context) error {
	s := c.current()
	if s == nil {
		return nil
	}
	return s.send(ctx, contract.ClientMessage{Action: "stop", SessionID: c.SessionID})
}

func (c *Chat) setStopping(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = on
}

func (c *Chat) isStopping() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopping
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
