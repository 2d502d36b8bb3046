package flow

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// GetSession reads one session for its owner.
type GetSession struct{ Edges }

// SessionView is what an owner sees of a session.
type SessionView struct {
	SessionID         string           `json:"sessionId"`
	Title             string           `json:"title,omitempty"`
	Status            string           `json:"status"`
	Mode              session.Mode     `json:"mode"`
	CreatedAt         contract.Instant `json:"createdAt"`
	ExpiresAt         contract.Instant `json:"expiresAt"`
	ContinuationToken string           `json:"continuationToken,omitempty"`
	ModelID           string           `json:"modelId,omitempty"`
	Pending           int64            `json:"pending"`
}

// Do reads the session, also one that has only a configuration. Faults: NotFound, Denied, Unavailable.
func (f GetSession) Do(ctx context.Context, in SessionOf) (SessionView, error) {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return SessionView{}, err
	}
	config, err := f.Table.SessionConfig(ctx, in.SessionID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return SessionView{}, err
	}
	s, err := f.mine(ctx, in)
	if err != nil {
		return SessionView{}, err
	}
	return SessionView{
		SessionID: s.SessionID, Title: config.Title, Status: s.Status(), Mode: s.Mode, CreatedAt: contract.At(time.UnixMilli(s.CreatedAt)),
		ExpiresAt: contract.At(time.Unix(s.ExpiresAt, 0)), ContinuationToken: s.Token, ModelID: config.ModelID, Pending: s.Pending(),
	}, nil
}

// SessionOf names a session and who asks.
type SessionOf struct {
	SessionID string
	Caller    contract.Principal
}

// ListSessions lists an owner's sessions, newest first.
type ListSessions struct{ Edges }

// ListSessionsIn is the page to read. Limit is 1 to 100, default 20; Cursor is what the page before gave.
type ListSessionsIn struct {
	Caller contract.Principal
	Limit  int
	Cursor string
}

// ListSessionsOut is a page. An empty Cursor ends the list; an empty page does not.
type ListSessionsOut struct {
	Sessions []ListedSession `json:"sessions"`
	Cursor   string          `json:"cursor,omitempty"`
}

// ListedSession is one line of the list.
type ListedSession struct {
	SessionID string           `json:"sessionId"`
	Title     string           `json:"title,omitempty"`
	CreatedAt contract.Instant `json:"createdAt"`
}

// Do reads a page. Faults: Invalid, Unavailable.
func (f ListSessions) Do(ctx context.Context, in ListSessionsIn) (ListSessionsOut, error) {
	if in.Limit == 0 {
		in.Limit = 20
	}
	if in.Limit < 1 || in.Limit > 100 {
		return ListSessionsOut{}, fault.New(fault.Invalid, "limit: must be from 1 to 100")
	}
	after, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	if err != nil || len(after) > 0 && !strings.HasPrefix(string(after), key.ListingPrefix) || len(after) > 1024 {
		return ListSessionsOut{}, fault.New(fault.Invalid, "cursor: is not one of a list of sessions")
	}
	list, next, err := f.Table.Sessions(ctx, string(in.Caller.Type), in.Caller.ID, string(after), in.Limit)
	return ListSessionsOut{Sessions: listed(list), Cursor: base64.RawURLEncoding.EncodeToString([]byte(next))}, err
}

func listed(list []store.Listed) []ListedSession {
	out := make([]ListedSession, len(list))
	for i, l := range list {
		out[i] = ListedSession{l.SessionID, l.Title, contract.At(l.CreatedAt)}
	}
	return out
}
