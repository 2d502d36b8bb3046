package load_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// client is one user with one socket.
type client struct {
	info  cloud.Info
	token string
	conn  *websocket.Conn
	ended chan string // deliveries whose turn has ended, as the socket tells it
	pongs chan struct{}
	lost  chan error // why the socket ended
}

// dial opens a socket that is told the end of every message, and reads it from then on.
func dial(ctx context.Context, c *cloud.Cloud, user string) (*client, error) {
	token, err := c.Token(user)
	if err != nil {
		return nil, err
	}
	p := &client{info: c.Info(), token: token, ended: make(chan string, 100), pongs: make(chan struct{}, 1), lost: make(chan error, 1)}
	p.conn, _, err = websocket.Dial(ctx, p.info.WS+"?features="+contract.FeatureReset, &websocket.DialOptions{Subprotocols: []string{identity.Scheme, identity.Subprotocol(token)}})
	if err != nil {
		return nil, fmt.Errorf("open the socket of %s: %w", user, err)
	}
	go p.read(ctx)
	return p, nil
}

func (p *client) read(ctx context.Context) {
	for {
		_, raw, err := p.conn.Read(ctx)
		if err != nil {
			p.lost <- err
			return
		}
		var m contract.ServerMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			p.lost <- fmt.Errorf("message %s: %w", raw, err)
			return
		}
		switch {
		case m.Type == contract.TypePong:
			p.pongs <- struct{}{}
		case m.DeliveryID != "" && (m.Type == contract.TypeComplete || m.Type == contract.TypeError):
			p.ended <- m.DeliveryID
		}
	}
}

func (p *client) write(ctx context.Context, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return p.conn.Write(ctx, websocket.MessageText, body)
}

func (p *client) close() { _ = p.conn.CloseNow() }

// alive asks for a sign of life.
func (p *client) alive(ctx context.Context) error {
	if err := p.write(ctx, map[string]string{"action": "ping"}); err != nil {
		return err
	}
	select {
	case <-p.pongs:
		return nil
	case err := <-p.lost:
		return fmt.Errorf("the socket is lost: %w", err)
	case <-ctx.Done():
		return fmt.Errorf("no pong: %w", ctx.Err())
	}
}

// say sends a message.
func (p *client) say(ctx context.Context, sessionID, delivery, text string, admission contract.Admission) error {
	return p.write(ctx, map[string]string{"request": text, "session_id": sessionID, "delivery_id": delivery, "admission": string(admission)})
}

// wait waits for the end of a delivery's turn.
func (p *client) wait(ctx context.Context, missing map[string]bool) error {
	for len(missing) > 0 {
		select {
		case id := <-p.ended:
			delete(missing, id)
		case err := <-p.lost:
			return fmt.Errorf("the socket is lost: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("%d messages have no end: %w", len(missing), ctx.Err())
		}
	}
	return nil
}

// events reads the log of a session.
func (p *client) events(ctx context.Context, sessionID string) ([]contract.SessionEvent, error) {
	var all []contract.SessionEvent
	for next := "0"; next != ""; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.info.HTTP+"/agent/sessions/"+sessionID+"/events?startIndex="+next, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+p.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("events of %s: %s %s %w", sessionID, resp.Status, body, err)
		}
		for line := range strings.Lines(string(body)) {
			var e contract.SessionEvent
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				return nil, fmt.Errorf("event %s: %w", line, err)
			}
			all = append(all, e)
		}
		next = resp.Header.Get("X-Next-Index")
	}
	return all, nil
}

// patience is how long the whole of a load may take.
const patience = 20 * time.Minute
