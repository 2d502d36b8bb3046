package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Line is an event of a session's stream as it came, without the end of the line.
type Line struct {
	Index int64
	Type  string
	Raw   json.RawMessage
}

func lineOf(raw []byte) (Line, error) {
	l := Line{Raw: bytes.Clone(raw)}
	err := json.Unmarshal(raw, &struct {
		Index *int64
		Type  *string
	}{&l.Index, &l.Type})
	if err != nil {
		return l, &Error{Code: "unavailable", Message: fmt.Sprintf("a line of the stream is no event: %v", err)}
	}
	return l, nil
}

// Events gives the events that a session has now, from an index on, page by page, to each.
func (c *Client) Events(ctx context.Context, sessionID string, from int64, each func(Line) error) error {
	for {
		target := fmt.Sprintf("%s/agent/sessions/%s/events?startIndex=%d", c.URL, url.PathEscape(sessionID), from)
		res, err := renewing(ctx, c, func() (*http.Response, error) { return c.do(ctx, http.MethodGet, target, nil) })
		if err != nil {
			return err
		}
		page, err := readAll(ctx, res, c.URL)
		if err != nil {
			return err
		}
		for raw := range bytes.Lines(page) {
			l, err := lineOf(bytes.TrimRight(raw, "\n"))
			if err == nil {
				err = each(l)
			}
			if err != nil {
				return err
			}
		}
		next, err := strconv.ParseInt(res.Header.Get("X-Next-Index"), 10, 64)
		if err != nil || next <= from {
			return nil // it was the last page
		}
		from = next
	}
}

// Tail is a session that is followed.
type Tail struct {
	Client    *Client
	SessionID string
	From      int64
	UntilIdle bool          // end where nothing runs or waits
	Retry     time.Duration // between two streams; 0: 1 s
}

// Run gives every event to each, once and in order, and opens the stream again as often as it ends, until ctx ends, the session
// does, or as UntilIdle asks.
func (t *Tail) Run(ctx context.Context, each func(Line) error) error {
	there, err := t.Client.Connect(ctx, t.SessionID)
	if err != nil {
		return err
	}
	if there.StreamURL == "" {
		return &Error{Code: "not_found", Message: "this stack has no streams; `steadfast events dump` reads what there is"}
	}
	for failures := 0; ; {
		before := t.From
		over, err := t.stream(ctx, there.StreamURL, each)
		var told *Error
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case over, err == nil && t.UntilIdle && t.From == before:
			return nil
		case t.From > before || err == nil:
			failures = 0
		case !errors.As(err, &told) || told.Code != "unavailable" || failures == reopens:
			return err
		default:
			failures++
		}
		if err := t.rest(ctx, failures); err != nil {
			return err
		}
	}
}

func (t *Tail) rest(ctx context.Context, failures int) error {
	pause := t.Retry
	if pause <= 0 {
		pause = retry
	}
	if failures == 0 {
		pause /= 10
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// stream reads one stream to its end. over: the session has ended.
func (t *Tail) stream(ctx context.Context, at string, each func(Line) error) (over bool, err error) {
	target := fmt.Sprintf("%s?startIndex=%d", at, t.From)
	if t.UntilIdle {
		target += "&until=idle"
	}
	res, err := renewing(ctx, t.Client, func() (*http.Response, error) { return t.Client.do(ctx, http.MethodGet, target, nil) })
	if err != nil {
		return false, err
	}
	defer func() { _ = res.Body.Close() }()
	for lines := bufio.NewReader(res.Body); ; {
		raw, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return over, nil // a line without its end is asked for again
		}
		if err != nil {
			return false, unreachable(ctx, origin(at), err)
		}
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue // a sign of life
		}
		l, err := lineOf(raw)
		switch {
		case err != nil:
			return false, err
		case l.Index < t.From:
			continue
		case l.Index > t.From:
			return false, &Error{Code: "internal", Message: fmt.Sprintf("the stream jumps from event %d to %d", t.From, l.Index)}
		}
		if err := each(l); err != nil {
			return false, err
		}
		t.From, over = l.Index+1, l.Type == "session.completed" || l.Type == "session.failed"
	}
}
