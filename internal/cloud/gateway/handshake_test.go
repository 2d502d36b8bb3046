package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	core "github.com/steadfast-agents/steadfast/core/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
)

const allow = `{"principalId":"ada","policyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["execute-api:Invoke"],"Resource":["*"]}]},"context":{"sub":"s-1","n":5,"b":true}}`

// chat are functions that let everybody in and answer nothing.
func chat(with map[string]func(string) (string, string)) map[string]func(string) (string, string) {
	run := map[string]func(string) (string, string){
		"authorize": answers(allow), "connect": answers(ok), "disconnect": answers(ok), "message": answers(ok), "shout": answers(ok),
	}
	for name, f := range with {
		run[name] = f
	}
	return run
}

// dial opens a connection, which the test closes.
func dial(t *testing.T, url string, opts *websocket.DialOptions) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// refused opens a connection that must be refused, and gives status and body.
func refused(t *testing.T, url string, opts *websocket.DialOptions) (int, string) {
	t.Helper()
	conn, res, err := websocket.Dial(t.Context(), url, opts)
	if err == nil {
		_ = conn.CloseNow()
		return 101, ""
	}
	if res == nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

func TestAuthorizerEvent(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := open(t, chat(nil), func(g *gateway.Gateway) { g.Now = func() time.Time { return at } })
	dial(t, w.ws+"?token=q&x=1&x=2", &websocket.DialOptions{
		HTTPHeader: http.Header{"X-Twice": {"one", "two"}, "User-Agent": {"test"}}, Subprotocols: []string{"a", "b"},
	})
	got := decode[events.APIGatewayCustomAuthorizerRequestTypeRequest](t, w.await(t, "authorize", 1)[0])
	if got.Type != "REQUEST" || got.MethodArn != "arn:aws:execute-api:us-east-1:000000000000:wsapi1/live/$connect" {
		t.Errorf("type %s, arn %s", got.Type, got.MethodArn)
	}
	if got.Headers["X-Twice"] != "two" || !slices.Equal(got.MultiValueHeaders["X-Twice"], []string{"one", "two"}) {
		t.Errorf("X-Twice is %v and %v, want the last value and all", got.Headers["X-Twice"], got.MultiValueHeaders["X-Twice"])
	}
	if got.Headers["Sec-WebSocket-Protocol"] != "a,b" {
		t.Errorf("headers %v, want the offered subprotocols spelled as clients do", got.Headers)
	}
	if d := cmp.Diff(map[string]string{"token": "q", "x": "2"}, got.QueryStringParameters); d != "" {
		t.Errorf("query (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"1", "2"}, got.MultiValueQueryStringParameters["x"]); d != "" {
		t.Errorf("all values of x (-want +got):\n%s", d)
	}
	context := decode[struct {
		RequestContext events.APIGatewayWebsocketProxyRequestContext
	}](t, w.calls("authorize")[0]).RequestContext
	connect := decode[events.APIGatewayWebsocketProxyRequest](t, w.await(t, "connect", 1)[0]).RequestContext
	if context.ConnectionID != connect.ConnectionID || len(connect.ConnectionID) != 16 || !strings.HasSuffix(connect.ConnectionID, "=") {
		t.Errorf("connection ids %q and %q, want one of 16 characters that ends in =", context.ConnectionID, connect.ConnectionID)
	}
	if connect.RequestID == "" || connect.RequestID == context.RequestID {
		t.Errorf("request ids %q and %q, want one for each call", context.RequestID, connect.RequestID)
	}
	want := events.APIGatewayWebsocketProxyRequestContext{
		Stage: "live", APIID: "wsapi1", ConnectedAt: at.UnixMilli(), DomainName: strings.TrimPrefix(w.http, "http://"), EventType: "CONNECT",
		MessageDirection: "IN", RequestTime: "30/Nov/2026:12:00:00 +0000", RequestTimeEpoch: at.UnixMilli(), RouteKey: "$connect",
		Identity:     events.APIGatewayRequestIdentity{SourceIP: "127.0.0.1", UserAgent: "test"},
		Authorizer:   map[string]any{"principalId": "ada", "sub": "s-1", "n": "5", "b": "true"},
		ConnectionID: connect.ConnectionID, RequestID: connect.RequestID, ExtendedRequestID: connect.ExtendedRequestID,
	}
	if d := cmp.Diff(want, connect); d != "" {
		t.Errorf("$connect's requestContext (-want +got):\n%s", d)
	}
}

func TestAuthorizerVerdicts(t *testing.T) {
	policy := func(statements, context string) func(string) (string, string) {
		return answers(fmt.Sprintf(`{"principalId":"p","policyDocument":{"Version":"2012-10-17","Statement":[%s]},"context":%s}`, statements, context))
	}
	one := func(effect, action, resource string) func(string) (string, string) {
		return policy(fmt.Sprintf(`{"Effect":%q,"Action":%q,"Resource":%q}`, effect, action, resource), `{}`)
	}
	const arn = "arn:aws:execute-api:us-east-1:000000000000:wsapi1/live/$connect"
	tests := []struct {
		name   string
		run    func(string) (string, string)
		status int
	}{
		{"allow this", one("Allow", "execute-api:Invoke", arn), 101},
		{"allow the stage", one("Allow", "execute-api:*", "arn:aws:execute-api:*:*:wsapi1/live/*"), 101},
		{"allow with ?", one("Allow", "*", strings.Replace(arn, "live", "l?ve", 1)), 101},
		{"action in capitals", one("Allow", "EXECUTE-API:INVOKE", arn), 101},
		{"deny", one("Deny", "execute-api:Invoke", arn), 403},
		{"allow another stage", one("Allow", "execute-api:Invoke", strings.Replace(arn, "live", "prod", 1)), 403},
		{"dots are no wildcards", one("Allow", "execute-api:Invoke", strings.Replace(arn, "wsapi1", "wsapi.", 1)), 403},
		{"allow another action", one("Allow", "execute-api:ManageConnections", arn), 403},
		{"deny beats allow", policy(`{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"*","Resource":"*"}`, `{}`), 403},
		{"context of text, number, boolean", policy(`{"Effect":"Allow","Action":"*","Resource":"*"}`, `{"a":"b","c":1,"d":false}`), 101},
		{"context with a list", policy(`{"Effect":"Allow","Action":"*","Resource":"*"}`, `{"a":["b"]}`), 500},
		{"context with null", policy(`{"Effect":"Allow","Action":"*","Resource":"*"}`, `{"a":null}`), 500},
		{"answer of 8 KB", policy(`{"Effect":"Allow","Action":"*","Resource":"*"}`, `{"a":"`+strings.Repeat("x", 8<<10)+`"}`), 500},
		{"no principal", answers(`{"policyDocument":{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}}`), 500},
		{"no statement", answers(`{"principalId":"p"}`), 500},
		{"not a policy", answers(`"yes"`), 500},
		{"fails", fails("broken"), 500},
		{"fails saying Unauthorized", fails("Unauthorized"), 401},
		{"cannot run", nil, 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := chat(map[string]func(string) (string, string){"authorize": tt.run})
			if tt.run == nil {
				delete(run, "authorize")
			}
			w := open(t, run, nil)
			if status, _ := refused(t, w.ws, nil); status != tt.status {
				t.Errorf("handshake answered %d, want %d", status, tt.status)
			}
			if n := len(w.calls("connect")); (n == 1) != (tt.status == 101) {
				t.Errorf("$connect ran %d times", n)
			}
		})
	}
}

func TestIdentitySources(t *testing.T) {
	tests := []struct {
		name    string
		sources []string
		query   string
		header  http.Header
		want    int
	}{
		{"none asked for", nil, "", nil, 101},
		{"query there", []string{"route.request.querystring.token"}, "?token=x", nil, 101},
		{"query missing", []string{"route.request.querystring.token"}, "?Token=x", nil, 401},
		{"query empty", []string{"route.request.querystring.token"}, "?token=", nil, 401},
		{"header there", []string{"route.request.header.x-auth"}, "", http.Header{"X-Auth": {"x"}}, 101},
		{"one of two missing", []string{"route.request.header.X-Auth", "route.request.querystring.token"}, "", http.Header{"X-Auth": {"x"}}, 401},
		{"of the context", []string{"context.identity.sourceIp"}, "", nil, 101},
		{"stage variable", []string{"stageVariables.x"}, "", nil, 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, chat(nil), func(g *gateway.Gateway) { g.Stack.WebSocket.IdentitySource = tt.sources })
			status, _ := refused(t, w.ws+tt.query, &websocket.DialOptions{HTTPHeader: tt.header})
			if status != tt.want || (len(w.calls("authorize")) == 1) != (tt.want == 101) {
				t.Errorf("status %d after %d calls of the authorizer, want %d", status, len(w.calls("authorize")), tt.want)
			}
		})
	}
}

func TestConnectDecides(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	tests := []struct {
		name   string
		run    func(string) (string, string)
		status int
	}{
		{"200", answers(ok), 101},
		{"204", answers(`{"statusCode":204}`), 101},
		{"401", answers(`{"statusCode":401}`), 401},
		{"302", answers(`{"statusCode":302}`), 302},
		{"500", answers(`{"statusCode":500}`), 500},
		{"no statusCode", answers(`{}`), 502},
		{"null", answers(`null`), 502},
		{"fails", fails("x"), 502},
		{"too slow", func(string) (string, string) { <-release; return ok, "" }, 504},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, chat(map[string]func(string) (string, string){"connect": tt.run}), func(g *gateway.Gateway) {
				if tt.status == 504 {
					g.Stack.WebSocket.Timeouts = map[string]time.Duration{"$connect": 20 * time.Millisecond}
				}
			})
			status, body := refused(t, w.ws, nil)
			if status != tt.status {
				t.Fatalf("handshake answered %d, want %d", status, tt.status)
			}
			if tt.status == 101 {
				w.await(t, "disconnect", 1)
				return
			}
			if e := decode[map[string]string](t, body); e["message"] == "" || len(e["connectionId"]) != 16 || e["requestId"] == "" {
				t.Errorf("refused with %s, want message, connectionId and requestId", body)
			}
			if n := len(w.calls("disconnect")); n != 0 {
				t.Errorf("$disconnect ran %d times for a connection that never was", n)
			}
		})
	}
}

func TestWithoutAuthorizerAndConnect(t *testing.T) {
	w := open(t, chat(nil), func(g *gateway.Gateway) {
		g.Stack.WebSocket.Authorizer = ""
		g.Stack.WebSocket.Routes = map[string]string{"$default": "message"}
	})
	conn := dial(t, w.ws, nil)
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	if e := decode[events.APIGatewayWebsocketProxyRequest](t, w.await(t, "message", 1)[0]); e.RequestContext.Authorizer != nil {
		t.Errorf("authorizer is %v, want none", e.RequestContext.Authorizer)
	}
}

func TestP16Subprotocol(t *testing.T) {
	const secret = "head.claims.mac"
	offer := core.Subprotocol(secret)
	tests := []struct {
		name    string
		offered []string
		reply   string // of $connect
		want    string
	}{
		{"scheme of the two", []string{core.Scheme, offer}, core.Scheme, core.Scheme},
		{"token first", []string{offer, core.Scheme}, core.Scheme, core.Scheme},
		{"not echoed by $connect", []string{core.Scheme, offer}, "", ""},
		{"one that was not offered", []string{"a", "b"}, "c", ""},
		{"in another spelling", []string{"a", "b"}, "A", ""},
		{"two at once", []string{"a", "b"}, "a, b", ""},
		{"none offered", nil, core.Scheme, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			headers, _ := json.Marshal(map[string]string{"sec-websocket-protocol": tt.reply})
			var log bytes.Buffer
			w := open(t, chat(map[string]func(string) (string, string){
				"connect": answers(fmt.Sprintf(`{"statusCode":200,"headers":%s}`, headers)),
			}), func(g *gateway.Gateway) {
				g.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			conn := dial(t, w.ws+"?token="+secret, &websocket.DialOptions{Subprotocols: tt.offered})
			if conn.Subprotocol() != tt.want {
				t.Errorf("subprotocol %q, want %q", conn.Subprotocol(), tt.want)
			}
			_ = conn.CloseNow()
			w.await(t, "disconnect", 1)
			if strings.Contains(log.String(), secret) || strings.Contains(log.String(), offer) {
				t.Error("the log holds the token")
			}
		})
	}
}

func TestNoHandshake(t *testing.T) {
	w := open(t, chat(nil), nil)
	upgrade := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Version": "13", "Sec-Websocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
	with := func(name, value string) map[string]string {
		out := map[string]string{name: value}
		for n, v := range upgrade {
			if n != name {
				out[n] = v
			}
		}
		return out
	}
	for _, tt := range []struct {
		name, method, query string
		headers             map[string]string
		want                int
	}{
		{"plain GET", "GET", "", nil, 426},
		{"POST", "POST", "", upgrade, 426},
		{"another upgrade", "GET", "", with("Upgrade", "h2c"), 426},
		{"another version", "GET", "", with("Sec-Websocket-Version", "8"), 400},
		{"long address", "GET", "?token=" + strings.Repeat("a", gateway.MaxURL), upgrade, 414},
		{"long header", "GET", "", with("X-A", strings.Repeat("a", gateway.MaxHTTPHeader)), 431},
	} {
		if res, _ := do(t, tt.method, w.http+"/live"+tt.query, "", tt.headers); res.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, res.StatusCode, tt.want)
		}
	}
	if n := len(w.calls("authorize")) + len(w.calls("connect")); n != 0 {
		t.Errorf("functions ran %d times for what is no handshake", n)
	}
}
