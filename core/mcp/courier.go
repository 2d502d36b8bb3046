package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// courier carries the requests for one server: to its own origin only, with its headers, and reads answers up to a size.
type courier struct {
	base    http.RoundTripper
	origin  *url.URL
	headers http.Header // never replace what the protocol sets
	auth    *contract.AuthHeader
	max     int64
}

var (
	errElsewhere = errors.New("the server points to another host")
	errTooLarge  = errors.New("the answer is too large")
)

// client is an HTTP client that follows redirects within the origin, without changing the method.
func (c courier) client() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 3 || req.Method != via[0].Method || !c.mine(req.URL) {
			notesOf(req.Context()).elsewhere.Store(true)
			return errElsewhere
		}
		return nil
	}}
}

func (c courier) mine(u *url.URL) bool {
	return u.Scheme == c.origin.Scheme && strings.EqualFold(u.Host, c.origin.Host)
}

// RoundTrip sends req with the spec's headers. authHeader comes last and as it is, so that nothing can take its place.
func (c courier) RoundTrip(req *http.Request) (*http.Response, error) {
	n := notesOf(req.Context())
	if !c.mine(req.URL) {
		n.elsewhere.Store(true)
		return nil, errElsewhere
	}
	sent := req.Clone(req.Context())
	for name, values := range c.headers {
		if _, protocol := req.Header[name]; !protocol {
			sent.Header[name] = values
		}
	}
	if c.auth != nil {
		sent.Header.Set(c.auth.Name, c.auth.Value)
	}
	n.sent.Store(true)
	resp, err := c.base.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if req.Method != http.MethodGet || resp.StatusCode != http.StatusOK { // a stream may live long; the SDK bounds its events
		resp.Body = &limitedBody{ReadCloser: resp.Body, left: c.max, notes: n}
	}
	n.status.Store(int32(resp.StatusCode))
	if req.Header.Get("Mcp-Session-Id") != "" && req.Method == http.MethodPost && sessionLost(resp) {
		n.lost.Store(true)
	}
	return resp, nil
}

// sessionLost reports whether a server refuses a request because it does not know the session: by 404, as the protocol says, or
// by 400 with words about it, as many servers do. The request was not worked on.
func sessionLost(resp *http.Response) bool {
	if resp.StatusCode != http.StatusBadRequest {
		return resp.StatusCode == http.StatusNotFound
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	return err == nil && bytes.Contains(bytes.ToLower(head), []byte("session"))
}

// limitedBody fails when more than left bytes come.
type limitedBody struct {
	io.ReadCloser
	left  int64
	notes *notes
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.notes.tooLarge.Store(true)
		return 0, errTooLarge
	}
	return n, err
}

// notes are what the courier saw of one request of the protocol. The SDK's errors do not tell it.
type notes struct {
	sent      atomic.Bool // something went out
	status    atomic.Int32
	lost      atomic.Bool // the server does not know the session any more
	elsewhere atomic.Bool // the server pointed to another host
	tooLarge  atomic.Bool
}

type notesKey struct{}

func withNotes(ctx context.Context) (context.Context, *notes) {
	n := &notes{}
	return context.WithValue(ctx, notesKey{}, n), n
}

func notesOf(ctx context.Context) *notes {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		return n
	}
	return &notes{}
}
