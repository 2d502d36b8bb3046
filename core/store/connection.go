package store

import (
	"context"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// connectionLife is what API Gateway lets a connection live (2 h), and a margin.
const connectionLife = 2*time.Hour + 10*time.Minute

// Connection is an open WebSocket.
type Connection struct {
	ID          string   `dynamodbav:"connectionId"`
	UserID      string   `dynamodbav:"userId"`
	ConnectedAt int64    `dynamodbav:"connectedAt"` // ms
	Features    []string `dynamodbav:"features,omitempty"`
	Sessions    []string `dynamodbav:"sessions,omitempty"` // those it follows
	Asked       int64    `dynamodbav:"asked,omitempty"`    // in a session's list: when it asked to be told what it missed, ms
	ExpiresAt   int64    `dynamodbav:"expiresAt"`
}

// PutConnection records a connection. Repeating it is harmless. Faults: Unavailable.
func (t Table) PutConnection(ctx context.Context, c Connection) error {
	c.ExpiresAt = time.UnixMilli(c.ConnectedAt).Add(connectionLife).Unix()
	row, err := encode(key.Connection(c.ID), "Connection", c)
	return t.Commit(ctx, Write{key: key.Connection(c.ID), put: row, err: err})
}

// Connection reads a connection. Faults: NotFound, Unavailable.
func (t Table) Connection(ctx context.Context, id string) (Connection, error) {
	var c Connection
	found, err := t.getInto(ctx, key.Connection(id), &c)
	if err == nil && (!found || c.ExpiresAt <= t.now().Unix()) {
		err = fault.New(fault.NotFound, "no such connection")
	}
	return c, err
}

// Subscribe makes a connection follow a session. Repeating it is harmless; with another Asked it asks again. Faults: NotFound when the connection is gone,
// Unavailable.
func (t Table) Subscribe(ctx context.Context, sessionID string, c Connection) error {
	known := slices.Contains(c.Sessions, sessionID)
	if known && c.Asked == 0 {
		return nil
	}
	c.ExpiresAt = time.UnixMilli(c.ConnectedAt).Add(connectionLife).Unix()
	followed := slices.Clone(c.Sessions)
	if !known {
		followed = append(followed, sessionID)
	}
	c.Sessions = nil
	k := key.Subscriber(sessionID, c.ID)
	row, err := encode(k, "Subscriber", c)
	exists := cond.Exists(key.PK)
	err = t.Commit(ctx,
		Write{key: k, put: row, err: err},
		Write{key: key.Connection(c.ID), set: item{"sessions": stringList(followed)}, cond: &exists})
	if RefusedBy(err, key.Connection(c.ID)) {
		return fault.New(fault.NotFound, "no such connection")
	}
	return err
}

// Subscribers reads the connections that follow a session. Faults: Unavailable.
func (t Table) Subscribers(ctx context.Context, sessionID string) ([]Connection, error) {
	var list []Connection
	for row, err := range t.query(ctx, scope{pk: key.SessionPK(sessionID), keys: prefix(key.SubPrefix)}) {
		if err != nil {
			return nil, err
		}
		var c Connection
		if err := decode(row, &c); err != nil {
			return nil, err
		}
		if c.ExpiresAt > t.now().Unix() {
			list = append(list, c)
		}
	}
	return list, nil
}

// Unsubscribe makes a connection follow a session no longer. Repeating it is harmless. Faults: Unavailable.
func (t Table) Unsubscribe(ctx context.Context, sessionID, connectionID string) error {
	return t.Commit(ctx, remove(key.Subscriber(sessionID, connectionID)))
}

// Disconnect forgets a connection and all it follows. Repeating it is harmless. Faults: Unavailable.
func (t Table) Disconnect(ctx context.Context, connectionID string) error {
	c, err := t.Connection(ctx, connectionID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, sessionID := range c.Sessions {
		if err := t.Unsubscribe(ctx, sessionID, connectionID); err != nil {
			return err
		}
	}
	return t.Commit(ctx, remove(key.Connection(connectionID)))
}
