package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// DevToken asks the dev host at base for a token of user.
func DevToken(ctx context.Context, hc *http.Client, base, user string) (string, error) {
	c := Client{URL: base, HTTP: hc}
	raw, err := c.call(ctx, http.MethodPost, "/_dev/token", map[string]string{"user": user})
	if err != nil {
		return "", err
	}
	var out struct {
		Token string `json:"token"`
	}
	if err := decode(raw, &out, "POST /_dev/token"); err != nil {
		return "", err
	}
	if out.Token == "" {
		return "", &Error{Code: "unavailable", Message: base + " gave no token: is it `steadfast dev`?"}
	}
	return out.Token, nil
}

// Surroundings are the AWS services of a dev host.
type Surroundings struct {
	AWS    string `json:"aws"`
	Table  string `json:"table"`
	Bus    string `json:"bus"`
	Region string `json:"region"`
	Model  string `json:"model"` // what its functions ask by default
}

// DevInfo asks the dev host at base where its AWS services are.
func DevInfo(ctx context.Context, base string) (Surroundings, error) {
	var out Surroundings
	raw, err := (&Client{URL: base}).call(ctx, http.MethodGet, "/_dev/info", nil)
	if err != nil {
		return out, err
	}
	if err := decode(raw, &out, "GET /_dev/info"); err != nil {
		return out, err
	}
	if out.AWS == "" || out.Table == "" {
		return out, &Error{Code: "unavailable", Message: base + " tells no table: is it `steadfast dev`?"}
	}
	return out, nil
}

// Builds are what a dev host builds.
type Builds struct {
	Building []string          `json:"building"` // functions
	Broken   map[string]string `json:"broken"`   // functions that do not build, with the compiler's words
}

// DevBuilds asks the dev host at base what it builds.
func DevBuilds(ctx context.Context, base string) (out Builds, err error) {
	raw, err := (&Client{URL: base}).call(ctx, http.MethodGet, "/_dev/builds", nil)
	if err != nil {
		return out, err
	}
	return out, decode(raw, &out, "GET /_dev/builds")
}

// Connection is where and as what to talk.
type Connection struct {
	WSURL     string `json:"wsUrl"`
	SessionID string `json:"sessionId"`
	StreamURL string `json:"streamUrl"` // of the session's events; empty: the stack has no streams
}

// Connect asks where the WebSocket is, for a session id that may be empty or new. Another caller's session is refused.
func (c *Client) Connect(ctx context.Context, sessionID string) (Connection, error) {
	in := map[string]string{}
	if sessionID != "" {
		in["sessionId"] = sessionID
	}
	raw, err := c.call(ctx, http.MethodPost, "/agent/connect", in)
	if err != nil {
		return Connection{}, err
	}
	var out Connection
	return out, decode(raw, &out, "POST /agent/connect")
}

// NewTask is what a task is made of.
type NewTask struct {
	Request   string `json:"request"`
	SessionID string `json:"sessionId,omitempty"`
	System    string `json:"system,omitempty"`
}

// Task is a task's result so far, and all the stack said about it.
type Task struct {
	contract.TaskResult
	Raw json.RawMessage
}

// Final reports whether the status will not change any more.
func (t Task) Final() bool {
	switch strings.ToUpper(t.Status) {
	case "COMPLETED", "FAILED", "CANCELLED":
		return true
	}
	return false
}

// CreateTask starts a task and does not wait for it. It is not idempotent.
func (c *Client) CreateTask(ctx context.Context, in NewTask) (Task, error) {
	if err := CheckSize("request", in.Request); err != nil {
		return Task{}, err
	}
	return c.task(ctx, http.MethodPost, "/agent/tasks", in)
}

// Task reads a task.
func (c *Client) Task(ctx context.Context, id string) (Task, error) {
	return c.task(ctx, http.MethodGet, "/agent/tasks/"+url.PathEscape(id), nil)
}

// CancelTask asks for a task to end. The answer may lack a status.
func (c *Client) CancelTask(ctx context.Context, id string) (Task, error) {
	return c.task(ctx, http.MethodPost, "/agent/tasks/"+url.PathEscape(id)+"/cancel", struct{}{})
}

func (c *Client) task(ctx context.Context, method, path string, in any) (Task, error) {
	raw, err := c.call(ctx, method, path, in)
	if err != nil {
		return Task{}, err
	}
	t := Task{Raw: raw}
	if len(raw) == 0 {
		return t, nil
	}
	return t, decode(raw, &t.TaskResult, method+" "+path)
}

// Session is what a listing says about one.
type Session struct {
	SessionID string          `json:"sessionId"`
	Title     string          `json:"title"`
	CreatedAt string          `json:"createdAt"`
	Raw       json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object in Raw.
func (s *Session) UnmarshalJSON(b []byte) error {
	type bare Session
	if err := json.Unmarshal(b, (*bare)(s)); err != nil {
		return err
	}
	s.Raw = append(json.RawMessage(nil), b...)
	return nil
}

// Sessions lists the caller's sessions, newest first, up to limit, following the pages.
func (c *Client) Sessions(ctx context.Context, limit int) ([]Session, error) {
	var all []Session
	for cursor := ""; ; {
		page, next, err := c.sessions(ctx, limit-len(all), cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if next == "" || next == cursor || len(all) >= limit {
			return all[:min(len(all), limit)], nil
		}
		cursor = next
	}
}

func (c *Client) sessions(ctx context.Context, limit int, cursor string) ([]Session, string, error) {
	q := url.Values{"limit": {strconv.Itoa(min(limit, 100))}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	raw, err := c.call(ctx, http.MethodGet, "/agent/sessions?"+q.Encode(), nil)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Sessions []Session `json:"sessions"`
		Cursor   string    `json:"cursor"`
	}
	err = decode(raw, &page, "GET /agent/sessions")
	return page.Sessions, page.Cursor, err
}

// SessionByID reads what the stack says about a session.
func (c *Client) SessionByID(ctx context.Context, id string) (json.RawMessage, error) {
	return c.call(ctx, http.MethodGet, "/agent/sessions/"+url.PathEscape(id), nil)
}

// DeleteSession removes a session and everything under it.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, "/agent/sessions/"+url.PathEscape(id), nil)
	return err
}

// CheckSize refuses a text over the limit of one message before it is sent.
func CheckSize(what, text string) error {
	if n := len(text); n > contract.MaxMessageBytes {
		return tooLarge(what, n)
	}
	return nil
}

func tooLarge(what string, n int) *Error {
	return &Error{Code: "limit", Message: fmt.Sprintf("the %s has %d bytes, the limit is %d (128 KB)", what, n, contract.MaxMessageBytes)}
}

func decode(raw json.RawMessage, into any, of string) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return &Error{Code: "unavailable", Message: fmt.Sprintf("%s did not answer as a Steadfast stack does: %v", of, err)}
	}
	return nil
}
