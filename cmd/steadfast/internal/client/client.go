// Package client speaks to a Steadfast stack, local or deployed, over its deployed interfaces alone: the HTTP routes
// and the WebSocket. Answers stay as they came (json.RawMessage beside the fields that are needed), so that what is
// printed for programs is what the stack said.
//
// It prints nothing, keeps nothing on disk and never puts a token into an error.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/steadfast-agents/steadfast/core/contract"
)

const maxAnswerBytes = 16 << 20 // of an HTTP answer; API Gateway's own limit is 10 MB

// Client is one caller of one stack. It is safe for concurrent use by requests; Token is renewed by one at a time.
type Client struct {
	URL   string // base of the HTTP routes, without a slash at the end
	WSURL string // of the WebSocket; empty: asked from the stack
	Token string // a JWT
	// Renew gets another token when this one is refused; nil: refused is refused.
	Renew func(ctx context.Context) (string, error)
	HTTP  *http.Client // nil: http.DefaultClient
}

// Error is a refusal or failure with a code for programs: that of the stack, or "unauthorized", "unavailable" (try again later), "internal",
// "not_found", "invalid", "limit", "connection_lost".
type Error struct {
	Status  int // of HTTP, 0 when there was no answer
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

func (c *Client) http() *http.Client {
	if c.HTTP == nil {
		return http.DefaultClient
	}
	return c.HTTP
}

// call sends in as JSON (nil: no body) and gives the body of a 2xx answer. A refused token is renewed once.
func (c *Client) call(ctx context.Context, method, path string, in any) (json.RawMessage, error) {
	return renewing(ctx, c, func() (json.RawMessage, error) { return c.try(ctx, method, path, in) })
}

// renewing tries again with another token when this one is refused.
func renewing[T any](ctx context.Context, c *Client, try func() (T, error)) (T, error) {
	out, err := try()
	var refused *Error
	if errors.As(err, &refused) && refused.Status == http.StatusUnauthorized && c.Renew != nil {
		if c.Token, err = c.Renew(ctx); err != nil {
			return out, err
		}
		return try()
	}
	return out, err
}

func (c *Client) try(ctx context.Context, method, path string, in any) (json.RawMessage, error) {
	res, err := c.do(ctx, method, c.URL+path, in)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, res, c.URL)
}

func readAll(ctx context.Context, res *http.Response, at string) ([]byte, error) {
	defer func() { _ = res.Body.Close() }() // read to the end below; nothing is lost
	out, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if err != nil {
		return nil, unreachable(ctx, at, err)
	}
	return out, nil
}

// do sends a request and gives the answer if it is a 2xx one, with its body open.
func (c *Client) do(ctx context.Context, method, target string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode the body of %s %s: %w", method, target, err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, &Error{Code: "invalid", Message: fmt.Sprintf("%q is not a url", target)}
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	res, err := c.http().Do(req)
	if err != nil {
		return nil, unreachable(ctx, origin(target), err)
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	said, err := readAll(ctx, res, origin(target))
	if err != nil {
		return nil, err
	}
	return nil, refusal(res.StatusCode, said, method, target)
}

// origin is the scheme and host of a url that was used.
func origin(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return target
	}
	return u.Scheme + "://" + u.Host
}

// unreachable explains a request that got no answer.
func unreachable(ctx context.Context, at string, err error) error {
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED) && Loopback(at):
		return &Error{Code: "unavailable", Message: fmt.Sprintf("nothing listens at %s: start it with `steadfast dev`", at)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Error{Code: "unavailable", Message: "nothing listens at " + at}
	case errors.As(err, &dns):
		return &Error{Code: "unavailable", Message: fmt.Sprintf("there is no host %s: check --url", dns.Name)}
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &Error{Code: "unavailable", Message: fmt.Sprintf("no answer from %s: %v", at, err)}
}

// refusal explains an answer that is not 2xx.
func refusal(status int, body []byte, method, target string) *Error {
	var said contract.ErrorBody
	_ = json.Unmarshal(body, &said) // another shape leaves it empty
	e := &Error{Status: status, Code: said.Code, Message: said.Message}
	switch {
	case e.Code != "":
	case status == http.StatusUnauthorized:
		e.Code, e.Message = "unauthorized", "the token was refused: it is missing, has expired or belongs to another user pool"
	case status == http.StatusForbidden:
		e.Code = "denied"
	case status == http.StatusNotFound: // the gateway's own: ours has a code
		e.Code, e.Message = "not_found", fmt.Sprintf("%s %s is not a route there: check --url", method, target)
	case status == http.StatusRequestEntityTooLarge:
		e.Code = "limit"
	case status == http.StatusTooManyRequests: // the gateway's own: it passes
		e.Code, e.Message = "unavailable", "the stack is asked too often now: try again in a moment"
	case status >= 500:
		e.Code, e.Message = "unavailable", fmt.Sprintf("%s %s failed with status %d: %s", method, target, status, e.Message)
		if status == http.StatusInternalServerError {
			e.Code = "internal"
		}
	default:
		e.Code = "invalid"
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("%s %s was refused with status %d", method, target, status)
	}
	return e
}

// Loopback reports whether a url names this machine.
func Loopback(at string) bool {
	u, err := url.Parse(at)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
