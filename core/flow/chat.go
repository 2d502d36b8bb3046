package flow

import (
	"context"
	"net/url"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Chat takes a message from a socket, which follows the session from then on.
type Chat struct{ Edges }

// Socket is the connection that a message came over.
type Socket struct {
	ConnectionID string
	ConnectedAt  time.Time
}

// Do checks the owner, subscribes the socket and admits the message, in this order: nobody follows what is not theirs, and the
// first piece of the answer finds its reader. Faults as Admit.
func (f Chat) Do(ctx context.Context, from Socket, in AdmitIn) (contract.Delivery, error) {
	if in.SessionID == "" {
		return contract.Delivery{}, fault.New(fault.Invalid, "session_id: must not be empty")
	}
	if in.Admission == "" {
		in.Admission = contract.Preempt
	}
	if in.DeliveryID == "" {
		in.DeliveryID = "dlv_" + f.NewID()
	}
	if err := in.validate(); err != nil {
		return contract.Delivery{}, err
	}
	if err := f.Follow(ctx, from, SessionOf{in.SessionID, in.Caller}); err != nil {
		return contract.Delivery{}, err
	}
	return Admit(f).Do(ctx, in)
}

// Follow makes the socket follow a session that the caller owns or may begin. Idempotent. Faults: Invalid, Denied, NotFound,
// Unavailable.
func (f Chat) Follow(ctx context.Context, from Socket, in SessionOf) error {
	_, err := f.follow(ctx, from, in, 0)
	return err
}

// follow is Follow for a socket that asks, at that time in ms, to be told what it missed; 0: it does not.
func (f Chat) follow(ctx context.Context, from Socket, in SessionOf, asked int64) (store.Connection, error) {
	if err := f.mayUse(ctx, in); err != nil {
		return store.Connection{}, err
	}
	c, err := f.Table.Connection(ctx, from.ConnectionID)
	if fault.Is(err, fault.NotFound) {
		c = store.Connection{ID: from.ConnectionID, UserID: in.Caller.ID, ConnectedAt: from.ConnectedAt.UnixMilli()}
		err = f.Table.PutConnection(ctx, c)
	}
	if err != nil {
		return c, err
	}
	c.Asked = asked
	return c, f.Table.Subscribe(ctx, in.SessionID, c)
}

// mayUse reports whether a caller owns a session, or may be the first to use it.
func (e Edges) mayUse(ctx context.Context, in SessionOf) error {
	if err := contract.CheckID("session_id", in.SessionID); err != nil {
		return err
	}
	s, err := e.owned(ctx, in.SessionID, in.Caller)
	if !fault.Is(err, fault.NotFound) || s.Phase == session.Deleted {
		return err
	}
	if err := contract.CheckSessionID("session_id", in.SessionID); err != nil {
		return err
	}
	config, err := e.Table.SessionConfig(ctx, in.SessionID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return config.CheckOwner(in.Caller.ID)
}

// Connect tells a client where to open its socket.
type Connect struct {
	Edges
	URL       string // wss://...
	StreamURL string // https://..., without a slash at the end; "": not offered
}

// ConnectOut is the address, the session to name in messages, and where its events stream from.
type ConnectOut struct {
	WSURL     string `json:"wsUrl"`
	SessionID string `json:"sessionId"`
	StreamURL string `json:"streamUrl,omitempty"`
}

// Do names a session: the one asked for, if the caller may use it, else a new id, which begins with its first message. Faults:
// Invalid, Denied, NotFound, Unavailable.
func (f Connect) Do(ctx context.Context, in SessionOf) (ConnectOut, error) {
	if in.SessionID == "" {
		return f.to(f.NewID()), nil
	}
	if err := f.mayUse(ctx, in); err != nil {
		return ConnectOut{}, err
	}
	return f.to(in.SessionID), nil
}

func (f Connect) to(sessionID string) ConnectOut {
	out := ConnectOut{WSURL: f.URL, SessionID: sessionID}
	if f.StreamURL != "" {
		out.StreamURL = f.StreamURL + "/agent/sessions/" + url.PathEscape(sessionID) + "/stream"
	}
	return out
}
