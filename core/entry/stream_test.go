package entry_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/identity"
)

// stream is the handler; a token is its user's name.
func (r *rig) stream() entry.Stream {
	return entry.Stream{Follow: flow.FollowEvents{Edges: r.Edges}, Log: r.Log, Verify: func(_ context.Context, token string) (identity.Caller, error) {
		switch token {
		case "":
			return identity.Caller{}, fault.New(fault.Denied, "there is no token").Because("token_missing")
		case "late":
			return identity.Caller{}, fault.New(fault.Unavailable, "no keys")
		}
		return identity.Caller{Sub: token}, nil
	}}
}

func fromURL(method, path, token string, query map[string]string) events.LambdaFunctionURLRequest {
	e := events.LambdaFunctionURLRequest{RawPath: path, QueryStringParameters: query, Headers: map[string]string{}}
	e.RequestContext.HTTP.Method = method
	if token != "" {
		e.Headers["authorization"] = "Bearer " + token
	}
	return e
}

func TestStreamRefuses(t *testing.T) {
	const path = "/agent/sessions/s-1/stream"
	tests := []struct {
		name, method, path, token string
		query                     map[string]string
		status                    int
		says                      string
	}{
		{"no token", "GET", path, "", nil, 401, `{"message":"Unauthorized","code":"unauthorized"}`},
		{"keys that cannot be had", "GET", path, "late", nil, 503, `"code":"unavailable"`},
		{"another's", "GET", path, "eve", nil, 403, `{"message":"not your session","code":"denied"}`},
		{"nobody's", "GET", "/agent/sessions/s-2/stream", "ada", nil, 404, "no such session"},
		{"another method", "POST", path, "ada", nil, 404, "no such route"},
		{"another path", "GET", "/agent/sessions/s-1", "ada", nil, 404, "no such route"},
		{"an index that is none", "GET", path, "ada", map[string]string{"startIndex": "x"}, 400, "startIndex"},
		{"an end nobody knows", "GET", path, "ada", map[string]string{"until": "noon"}, 400, "until"},
		{"too long", "GET", path, "ada", map[string]string{"seconds": "901"}, 400, "seconds"},
	}
	r := newRig()
	r.say(t, "ada", `{"request":"hello","session_id":"s-1"}`)
	for _, tt := range tests {
		got, err := r.stream().Handle(t.Context(), fromURL(tt.method, tt.path, tt.token, tt.query))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(got.Body)
		if err != nil || got.StatusCode != tt.status || !strings.Contains(string(body), tt.says) || got.Headers["content-type"] != "application/json" {
			t.Errorf("%s: %d %s, %v; want %d with %q", tt.name, got.StatusCode, body, err, tt.status, tt.says)
		}
	}
	if log := r.logged.String(); strings.Contains(log, "Bearer") {
		t.Errorf("a token stands in the log: %s", log)
	}
}

// TestStream replays, shows signs of life and ends before its function does.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.Now = time.Now
		r.Table.Now = time.Now
		r.say(t, "ada", `{"request":"hello","session_id":"s/1 ü"}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		got, err := r.stream().Handle(ctx, fromURL("GET", "/agent/sessions/s%2F1%20%C3%BC/stream", "", map[string]string{"token": "ada"}))
		if err != nil || got.StatusCode != 200 || got.Headers["content-type"] != "application/x-ndjson" {
			t.Fatalf("Handle = %+v, %v", got, err)
		}
		var first contract.SessionEvent
		beats := 0
		for lines := bufio.NewScanner(got.Body); lines.Scan(); {
			if lines.Text() == "" {
				beats++
			} else if err := json.Unmarshal(lines.Bytes(), &first); err != nil {
				t.Error(err)
			}
		}
		if first.Type != "session.started" || beats < 3 || beats > 4 {
			t.Errorf("streamed %+v and %d signs of life", first, beats)
		}
		if took := time.Since(begun); took < 55*time.Second || took >= time.Minute {
			t.Errorf("the stream took %v of a minute", took)
		}
	})
}

// TestStreamThatNobodyReads ends without a word of it.
func TestStreamThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.Now, r.Table.Now = time.Now, time.Now
		r.say(t, "ada", `{"request":"hello","session_id":"s-1"}`)
		got, err := r.stream().Handle(t.Context(), fromURL("GET", "/agent/sessions/s-1/stream", "ada", nil))
		if err != nil || got.Close() != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if log := r.logged.String(); strings.Contains(log, "stream ended") {
			t.Errorf("logged %s", log)
		}
	})
}

func TestStreamSample(t *testing.T) {
	var e events.LambdaFunctionURLRequest
	sample(t, "stream-session", &e, "routeKey", "requestContext") // the library's type leaves out what says nothing
	s := newRig().stream()
	s.Verify = func(_ context.Context, token string) (identity.Caller, error) {
		if len(token) < 20 {
			t.Errorf("token %q", token)
		}
		return identity.Caller{Sub: sampleUser}, nil
	}
	got, err := s.Handle(t.Context(), e)
	if err != nil || got.StatusCode != 404 { // verified, and there is no such session
		t.Errorf("Handle = %+v, %v", got, err)
	}
}
