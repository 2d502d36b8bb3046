package mcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/guard"
)

// maxPages is how many pages of tools a server may have.
const maxPages = 256

// connect opens the link to one server.
func (d Dialer) connect(ctx context.Context, label string, spec contract.MCPServer) (*link, error) {
	if err := spec.Check(d.AllowedHosts); err != nil {
		return nil, fault.New(fault.Invalid, "its spec is not allowed: mcpServers.%s%s", label, fault.Public(err))
	}
	origin, err := d.AllowedHosts.Allow(spec.URL)
	if err != nil {
		return nil, err
	}
	headers, err := resolve(spec, d.LookupEnv)
	if err != nil {
		return nil, err
	}
	l := &link{label: label, url: spec.URL, timeout: d.ConnectTimeout, max: int(d.MaxAnswer), log: d.Log}
	l.client = courier{base: d.Transport, origin: origin, headers: headers, auth: spec.AuthHeader, max: d.MaxAnswer}.client()
	return l, l.open(ctx)
}

// opened is a connection and what the server offered on it.
type opened struct {
	session *sdk.ClientSession
	tools   []*sdk.Tool
	old     bool         // over the old SSE transport, whose stream ends when the process is frozen
	changed *atomic.Bool // the server has said that it offers others now
	end     context.CancelFunc
}

// dial makes a connection and lists the tools, within the link's timeout.
func (l *link) dial(ctx context.Context) (o opened, err error) {
	ctx, n := withNotes(ctx)
	stream, end := context.WithCancelCause(context.WithoutCancel(ctx)) // the old transport's stream lives on
	late := time.AfterFunc(l.timeout, func() { end(context.DeadlineExceeded) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	defer func() {
		if err == nil {
			return
		}
		if end(nil); o.session != nil {
			shut(o.session)
		}
		err = refusal(err, n, context.Cause(stream))
	}()
	o.end, o.changed = func() { end(nil) }, new(atomic.Bool)
	client := sdk.NewClient(&sdk.Implementation{Name: "steadfast", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	client.AddReceivingMiddleware(noting(o.changed)) // a handler of the SDK's would open a stream for it
	o.session, err = client.Connect(stream, &sdk.StreamableClientTransport{
		Endpoint: l.url, HTTPClient: l.client, MaxRetries: 3, DisableStandaloneSSE: true, MaxEventSize: l.max,
	}, nil)
	if err != nil && onlyOld(int(n.status.Load())) {
		o.old = true
		o.session, err = client.Connect(stream, &sdk.SSEClientTransport{Endpoint: l.url, HTTPClient: l.client, MaxEventSize: l.max}, nil)
	}
	if err == nil {
		o.tools, err = list(stream, o.session)
	}
	if err == nil && !late.Stop() { // from here on the connection outlives the time for making it
		err = context.DeadlineExceeded
	}
	return o, err
}

// noting notes that the server says its tools have changed.
func noting(changed *atomic.Bool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "notifications/tools/list_changed" {
				changed.Store(true)
			}
			return next(ctx, method, r)
		}
	}
}

// onlyOld reports whether a server answers the first request of the current transport as one does that knows only the old one.
func onlyOld(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

// list reads pages of tools until there are more than MaxTools, so that it can be told that some are left out.
func list(ctx context.Context, s *sdk.ClientSession) (all []*sdk.Tool, err error) {
	if init := s.InitializeResult(); init == nil || init.Capabilities == nil || init.Capabilities.Tools == nil {
		return nil, nil
	}
	cursor, seen := "", map[string]bool{}
	for range maxPages {
		page, err := s.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		all = append(all, page.Tools...)
		cursor = page.NextCursor
		if cursor == "" || seen[cursor] || len(all) > MaxTools {
			break
		}
		seen[cursor] = true
	}
	return all, nil
}

// refusal says why a server cannot be used, in words of our own: neither what the server said nor its URL.
func refusal(err error, n *notes, ended error) error {
	status := int(n.status.Load())
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var reason string
	switch {
	case n.tooLarge.Load():
		reason = "its answer is too large"
	case errors.Is(ended, context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		reason = tooSlow
	case ended != nil && !errors.Is(ended, context.Canceled):
		return ended // the turn's own reason to stop
	case n.elsewhere.Load():
		reason = "it points to another host"
	case fault.ReasonOf(err) == guard.Blocked:
		reason = "its host leads to an address that may not be asked"
	case errors.As(err, &certificate):
		reason = "its certificate is not trusted"
	case errors.As(err, &dns):
		reason = "its host has no address"
	case status >= 400:
		reason = fmt.Sprintf("it answered with status %d", status)
	case status == 0:
		reason = "it could not be reached"
	default:
		reason = "it does not speak the protocol"
	}
	return &fault.Error{Code: fault.Unavailable, Reason: "mcp_unavailable", Message: reason}
}

// shut ends a session; a server that does not take note is left alone after 2 s.
func shut(s *sdk.ClientSession) {
	done := make(chan struct{})
	go func() {
		_ = s.Close()
		close(done)
	}()
	timer := time.NewTimer(2 * time.Second)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
