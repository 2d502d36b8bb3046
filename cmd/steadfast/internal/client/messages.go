package client

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// sendTries bounds how often a message is sent again because others were faster with the continuation token.
const sendTries = 10

// sendPause is how much longer each time the pause before that may be.
const sendPause = 50 * time.Millisecond

// Send admits a message to a session and gives the receipt. It reads the session's continuation token itself, again when somebody
// else has used it up meanwhile; the delivery stays the same, so the message is taken once.
func (c *Client) Send(ctx context.Context, sessionID string, m contract.SendMessage) (json.RawMessage, error) {
	if err := CheckSize("message", m.Message); err != nil {
		return nil, err
	}
	if m.DeliveryID == "" {
		m.DeliveryID = uuid.NewString()
	}
	for try := 1; ; try++ {
		raw, err := c.SessionByID(ctx, sessionID)
		if err != nil {
			return nil, err
		}
		var view struct {
			ContinuationToken string `json:"continuationToken"`
		}
		if err := decode(raw, &view, "GET /agent/sessions/{id}"); err != nil {
			return nil, err
		}
		if m.ContinuationToken = view.ContinuationToken; m.ContinuationToken == "" {
			m.ContinuationToken = "none" // of a session without one yet: it is made now
		}
		raw, err = c.call(ctx, http.MethodPost, "/agent/sessions/"+url.PathEscape(sessionID)+"/messages", m)
		var told *Error
		switch {
		case !errors.As(err, &told) || told.Code != "stale_token":
			return raw, err
		case try == sendTries:
			return nil, &Error{Status: told.Status, Code: told.Code, Message: "others speak in the session all the time: send it again"}
		}
		select { // the others have their turn; who is how late is not known
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(rand.N(time.Duration(try) * sendPause)):
		}
	}
}

// StopSession asks for the running turn to end; clear cancels what waits too.
func (c *Client) StopSession(ctx context.Context, sessionID string, clear bool) (json.RawMessage, error) {
	return c.call(ctx, http.MethodPost, "/agent/sessions/"+url.PathEscape(sessionID)+"/stop", contract.StopSession{Clear: clear})
}
