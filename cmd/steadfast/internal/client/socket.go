package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"

	"github.com/steadfast-agents/steadfast/core/contract"
)

const (
	scheme       = "base64UrlBearerAuthorization" // of the subprotocol that carries the token
	frameBytes   = 16 * 1024                      // of what we send; a frame over 32 KB would close the connection
	maxReadBytes = 256 * 1024                     // of one message; the service's own limit is 128 KB
	writeTime    = 10 * time.Second
)

// socket is one WebSocket connection.
type socket struct{ conn *websocket.Conn }

// dial opens a connection that is told about resets. A refused token is renewed once.
func (c *Client) dial(ctx context.Context, at string) (*socket, error) {
	s, err := c.tryDial(ctx, at)
	var refused *Error
	if errors.As(err, &refused) && refused.Code == "unauthorized" && c.Renew != nil {
		if c.Token, err = c.Renew(ctx); err != nil {
			return nil, err
		}
		return c.tryDial(ctx, at)
	}
	return s, err
}

func (c *Client) tryDial(ctx context.Context, at string) (*socket, error) {
	target, err := url.Parse(at)
	if err != nil {
		return nil, &Error{Code: "invalid", Message: fmt.Sprintf("%q is not a url", at)}
	}
	q := target.Query()
	q.Set("features", "reset,approvals")
	target.RawQuery = q.Encode()
	token := base64.RawURLEncoding.EncodeToString([]byte(c.Token))
	conn, res, err := websocket.Dial(ctx, target.String(), &websocket.DialOptions{
		HTTPClient:   c.http(),
		Subprotocols: []string{scheme, scheme + "." + token},
	})
	if err != nil {
		return nil, refusedDial(ctx, at, res, err)
	}
	conn.SetReadLimit(maxReadBytes)
	return &socket{conn}, nil
}

func refusedDial(ctx context.Context, at string, res *http.Response, err error) error {
	switch {
	case res == nil:
		return unreachable(ctx, at, err)
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		e := refusal(http.StatusUnauthorized, nil, "connect to", at)
		e.Status = res.StatusCode
		return e
	}
	return refusal(res.StatusCode, nil, "connect to", at)
}

// send writes m in frames that the service takes. It does not end with its caller's context, which would close the
// connection in the middle of a message.
func (s *socket) send(ctx context.Context, m contract.ClientMessage) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if len(body) > contract.MaxMessageBytes {
		return tooLarge("message as JSON", len(body))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	w, err := s.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	for len(body) > 0 {
		n := min(len(body), frameBytes)
		if _, err := w.Write(body[:n]); err != nil {
			return err
		}
		body = body[n:]
	}
	return w.Close()
}

// next waits for a message. Something that is not one is skipped.
func (s *socket) next(ctx context.Context) (contract.ServerMessage, json.RawMessage, error) {
	for {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			return contract.ServerMessage{}, nil, err
		}
		var m contract.ServerMessage
		if json.Unmarshal(raw, &m) == nil {
			return m, raw, nil
		}
	}
}

func (s *socket) close() { _ = s.conn.Close(websocket.StatusNormalClosure, "") } // the peer may be gone already
