package entry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/identity"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// TestMessagesThatAreRefused: each gets one error message that a program and a person can read, and nothing is written.
func TestMessagesThatAreRefused(t *testing.T) {
	long := strings.Repeat("a", contract.MaxMessageBytes+1)
	tests := []struct{ name, user, body, code, message string }{
		{"nobody", "", `{"request":"hi","session_id":"s"}`, "denied", "no verified user"},
		{"no JSON", "ada", `hello`, "invalid", "message: is not valid JSON"},
		{"nothing", "ada", ``, "invalid", "message: the JSON ends too early"},
		{"a list", "ada", `[]`, "invalid", "message: must be a JSON object"},
		{"a wrong type", "ada", `{"request":5,"session_id":"s"}`, "invalid", "request: must be a string, is a number"},
		{"an unknown action", "ada", `{"action":"dance","session_id":"s"}`, "invalid", `action: "dance" is not one of message, stop, subscribe, decide, ping`},
		{"a very long action", "ada", `{"action":"` + strings.Repeat("x", 9000) + `"}`, "invalid", `action: "` + strings.Repeat("x", 40) + `…" is not one of message, stop, subscribe, decide, ping`},
		{"no session", "ada", `{"request":"hi"}`, "invalid", "session_id: must not be empty"},
		{"no session to stop", "ada", `{"action":"stop"}`, "invalid", "session_id: must not be empty"},
		{"nothing to decide about", "ada", `{"action":"decide","session_id":"s","decision":"approve"}`, "invalid", "actionId: must not be empty"},
		{"no verdict", "ada", `{"action":"decide","session_id":"s","action_id":"c","decision":"maybe"}`, "invalid", `decision: must be "approve" or "deny"`},
		{"no session to decide in", "ada", `{"action":"decide","session_id":"s","action_id":"c","decision":"deny"}`, "not_found", "no such session"},
		{"no session to follow", "ada", `{"action":"subscribe"}`, "invalid", "session_id: must not be empty"},
		{"no text", "ada", `{"request":" ","session_id":"s"}`, "invalid", "request: must not be empty"},
		{"too long a text", "ada", `{"request":"` + long + `","session_id":"s"}`, "invalid", "request: 131073 bytes, the limit is 131072"},
		{"too long an id", "ada", `{"request":"hi","session_id":"` + strings.Repeat("s", 257) + `"}`, "invalid", "session_id: 257 bytes, the limit is 256"},
		{"a task's session", "ada", `{"request":"hi","session_id":"task-1"}`, "invalid", `session_id: must not start with "task-", which is kept for tasks`},
		{"an unknown admission", "ada", `{"request":"hi","session_id":"s","admission":"maybe"}`, "invalid", `admission: must be "preempt", "coalesce" or "reject"`},
		{"a session that is not there", "ada", `{"action":"stop","session_id":"s"}`, "not_found", "no such session"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			got := r.say(t, tc.user, tc.body)
			if len(got) != 1 || got[0].Type != contract.TypeError || got[0].Error != tc.code || got[0].Message != tc.message {
				t.Errorf("posted %+v, want one error %q: %q", got, tc.code, tc.message)
			}
			if rows := r.dynamo.Items(""); len(rows) != 0 {
				t.Errorf("rows were written: %v", rows)
			}
			if len(r.events.Events()) != 0 {
				t.Error("an event was sent")
			}
		})
	}
}

// TestErrorSaysWhatItAnswers: ids of the message come back, so that a client with many open sends knows which one failed.
func TestErrorSaysWhatItAnswers(t *testing.T) {
	got := newRig().say(t, "ada", `{"request":"","session_id":"s-1","delivery_id":"d-1"}`)
	want := []contract.ServerMessage{{Type: "error", Error: "invalid", Message: "request: must not be empty", SessionID: "s-1", DeliveryID: "d-1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPing(t *testing.T) {
	r := newRig()
	want := []contract.ServerMessage{{Type: "pong"}}
	if diff := cmp.Diff(want, r.say(t, "ada", `{"action":"ping"}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if calls := r.world.Calls(); len(calls) != 0 {
		t.Errorf("a ping made calls: %v", calls)
	}
}

// TestMessage: a message is admitted for the verified user, whatever user_id says, and wakes the session.
func TestMessage(t *testing.T) {
	for _, action := range []string{"", `"action":"message",`} {
		r := newRig()
		got := r.say(t, "ada", `{`+action+`"request":"my secret","session_id":"s-1","user_id":"eve"}`)
		if len(got) != 0 {
			t.Errorf("posted %+v, want nothing before the answer", got)
		}
		s, err := r.Table.State(t.Context(), "s-1")
		if err != nil || s.Principal.ID != "ada" || s.Admitted != 1 {
			t.Errorf("state = %+v, %v, want one message of ada", s, err)
		}
		if sent := r.events.Of(contract.RunAgentTurn); len(sent) != 1 || string(sent[0].Detail) != `{"sessionId":"s-1"}` {
			t.Errorf("sent %v, want the session to be woken once", sent)
		}
		if strings.Contains(r.logged.String(), "secret") {
			t.Errorf("the log tells the text: %s", r.logged)
		}
	}
}

// TestSessionsOfOthers: a stranger gets the same answer for every action, and follows nothing.
func TestSessionsOfOthers(t *testing.T) {
	r := newRig()
	r.say(t, "ada", `{"request":"hi","session_id":"s-1"}`)
	before := r.dynamo.Dump()
	for _, body := range []string{
		`{"request":"hi","session_id":"s-1"}`, `{"action":"stop","session_id":"s-1","clear":true}`, `{"action":"subscribe","session_id":"s-1"}`,
		`{"action":"decide","session_id":"s-1","action_id":"c","decision":"approve"}`,
	} {
		got := r.say(t, "eve", body)
		if len(got) != 1 || got[0].Error != "denied" || got[0].Message != "not your session" {
			t.Errorf("%s: posted %+v, want denied", body, got)
		}
	}
	if diff := cmp.Diff(before, r.dynamo.Dump()); diff != "" {
		t.Errorf("rows changed (-before +after):\n%s", diff)
	}
}

// TestOwnFailure: a table that does not answer is told to the sender without its name.
func TestOwnFailure(t *testing.T) {
	r := newRig()
	r.world.Disturb(fake.Disturbance{Name: "dynamo.", Mode: fake.Fail, Times: 100})
	got := r.say(t, "ada", `{"request":"my secret","session_id":"s-1"}`)
	if len(got) != 1 || got[0].Error != "unavailable" || strings.Contains(got[0].Message, "main") {
		t.Errorf("posted %+v, want unavailable", got)
	}
	if log := r.logged.String(); !strings.Contains(log, "WARN") || strings.Contains(log, "secret") {
		t.Errorf("logged %s", log)
	}
}

// TestAnswerThatCannotBePosted fails the invocation: nobody else will tell the sender.
func TestAnswerThatCannotBePosted(t *testing.T) {
	gone := errors.New("410")
	s := newRig().socket()
	s.Tell = func(context.Context, string, ...contract.ServerMessage) error { return gone }
	for _, body := range []string{`{"action":"ping"}`, `{"action":"dance"}`} {
		if _, err := s.Message(t.Context(), fromSocket("ada", "MESSAGE", body)); !errors.Is(err, gone) {
			t.Errorf("%s: %v, want %v", body, err, gone)
		}
	}
}

// TestSenderWhoHasGone needs no answer, and that is nobody's failure.
func TestSenderWhoHasGone(t *testing.T) {
	r := newRig()
	s := r.socket()
	r.say(t, "ada", `{"request":"hello","session_id":"s-1"}`)
	s.Tell = func(context.Context, string, ...contract.ServerMessage) error {
		return fault.New(fault.NotFound, "gone")
	}
	for _, body := range []string{`{"action":"ping"}`, `{"action":"dance"}`, `{"action":"subscribe","session_id":"s-1","start_index":0}`} {
		if _, err := s.Message(t.Context(), fromSocket("ada", "MESSAGE", body)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestP16SubprotocolEcho(t *testing.T) {
	const token = "head.claims.signature"
	offer := identity.Scheme + ", " + identity.Subprotocol(token)
	tests := []struct {
		name    string
		headers map[string]string
		multi   map[string][]string
		query   map[string]string
		want    map[string]string
	}{
		{name: "none offered", query: map[string]string{"token": token}},
		{name: "scheme and token", headers: map[string]string{"Sec-WebSocket-Protocol": offer}, want: echo(identity.Scheme)},
		{name: "lower case header", headers: map[string]string{"sec-websocket-protocol": offer}, want: echo(identity.Scheme)},
		{name: "sent twice", multi: map[string][]string{"Sec-WebSocket-Protocol": {identity.Subprotocol(token), identity.Scheme}}, want: echo(identity.Scheme)},
		{name: "beside Authorization", headers: map[string]string{"Authorization": "Bearer " + token, "Sec-WebSocket-Protocol": offer}, want: echo(identity.Scheme)},
		{name: "the token alone", headers: map[string]string{"Sec-WebSocket-Protocol": identity.Subprotocol(token)}},
		{name: "another protocol", headers: map[string]string{"Sec-WebSocket-Protocol": "graphql-ws"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			e := fromSocket("ada", "CONNECT", "")
			e.Headers, e.MultiValueHeaders, e.QueryStringParameters = tc.headers, tc.multi, tc.query
			got, err := entry.Connected(r.Log, r.Table.PutConnection)(t.Context(), e)
			if err != nil || got.StatusCode != 200 {
				t.Fatalf("= %+v, %v, want 200", got, err)
			}
			if diff := cmp.Diff(tc.want, got.Headers); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if strings.Contains(r.logged.String()+r.dynamo.Dump(), token) {
				t.Error("the token is in the log or the table")
			}
		})
	}
}

func echo(scheme string) map[string]string {
	return map[string]string{"Sec-WebSocket-Protocol": scheme}
}

func TestConnected(t *testing.T) {
	r := newRig()
	e := fromSocket("ada", "CONNECT", "")
	e.QueryStringParameters = map[string]string{"features": "reset, telepathy,approvals,reset"}
	if got, err := entry.Connected(r.Log, r.Table.PutConnection)(t.Context(), e); err != nil || got.StatusCode != 200 {
		t.Fatalf("= %+v, %v", got, err)
	}
	got, err := r.Table.Connection(t.Context(), "conn=")
	want := store.Connection{ID: "conn=", UserID: "ada", ConnectedAt: fake.Start().UnixMilli() - 60_000, Features: []string{"reset", "approvals"}, ExpiresAt: got.ExpiresAt}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestConnectionsThatAreRefused(t *testing.T) {
	tests := []struct {
		name, user string
		err        error
		want       int
	}{
		{"nobody", "", nil, 403},
		{"the table does not answer", "ada", fault.New(fault.Unavailable, "later"), 503},
		{"a defect", "ada", errors.New("boom"), 500},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			put := func(context.Context, store.Connection) error { return tc.err }
			got, err := entry.Connected(newRig().Log, put)(t.Context(), fromSocket(tc.user, "CONNECT", ""))
			if err != nil || got.StatusCode != tc.want || got.Body != "" {
				t.Errorf("= %+v, %v, want %d without a body", got, err, tc.want)
			}
		})
	}
}

func TestDisconnected(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
	}{{nil, 200}, {fault.New(fault.Unavailable, "later"), 503}} {
		var forgot string
		forget := func(_ context.Context, id string) error { forgot = id; return tc.err }
		got, err := entry.Disconnected(newRig().Log, forget)(t.Context(), fromSocket("", "DISCONNECT", ""))
		if err != nil || got.StatusCode != tc.want || forgot != "conn=" {
			t.Errorf("= %+v, %v, forgot %q, want %d", got, err, forgot, tc.want)
		}
	}
}

func TestAuthorize(t *testing.T) {
	const token = "head.claims.signature"
	tests := []struct {
		name   string
		err    error
		effect string // "": the call fails
		who    string
	}{
		{"a good token", nil, "Allow", "ada"},
		{"a bad token", fault.New(fault.Denied, "the token has expired").Because("token_expired"), "Deny", "anonymous"},
		{"keys that cannot be had", fault.New(fault.Unavailable, "the keys cannot be fetched"), "", ""},
		{"a defect", errors.New("boom"), "", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			seen := ""
			handler := entry.Authorize(r.Log, func(_ context.Context, token string) (identity.Caller, error) {
				seen = token
				return identity.Caller{Sub: "ada"}, tc.err
			})
			got, err := handler(t.Context(), events.APIGatewayCustomAuthorizerRequestTypeRequest{
				MethodArn: "arn:x/live/$connect", QueryStringParameters: map[string]string{"token": token},
			})
			if seen != token || strings.Contains(fmt.Sprint(got, r.logged), token) {
				t.Errorf("verified %q, answered %+v, logged %s", seen, got, r.logged)
			}
			if tc.effect == "" {
				if err == nil || !cmp.Equal(got, events.APIGatewayCustomAuthorizerResponse{}) {
					t.Errorf("= %+v, %v, want a call that fails", got, err)
				}
				return
			}
			statement := got.PolicyDocument.Statement
			if err != nil || len(statement) != 1 || statement[0].Effect != tc.effect || statement[0].Resource[0] != "arn:x/live/$connect" {
				t.Errorf("= %+v, %v, want %s of the method alone", got, err, tc.effect)
			}
			if sub, _ := got.Context["sub"].(string); got.PrincipalID != tc.who || (tc.effect == "Allow") != (sub == "ada") {
				t.Errorf("principal %q, context %v", got.PrincipalID, got.Context)
			}
			if log := r.logged.String(); tc.effect == "Deny" && !strings.Contains(log, "token_expired") {
				t.Errorf("logged %s, want the reason", log)
			}
		})
	}
}
