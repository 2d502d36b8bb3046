package gateway_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
)

func write(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// inFrames sends text as one message in frames of at most size bytes.
func inFrames(t *testing.T, conn *websocket.Conn, text string, size int) {
	t.Helper()
	w, err := conn.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Error(err)
		return
	}
	for len(text) > 0 {
		n := min(size, len(text))
		if _, err := w.Write([]byte(text[:n])); err != nil {
			return // closed meanwhile: the test looks at how
		}
		text = text[n:]
	}
	_ = w.Close()
}

func read(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, b, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// closeCode reads on until the connection ends and gives the code.
func closeCode(t *testing.T, conn *websocket.Conn) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			return int(websocket.CloseStatus(err))
		}
	}
}

func TestMessageEvent(t *testing.T) {
	w := open(t, chat(nil), nil)
	conn := dial(t, w.ws, nil)
	write(t, conn, `{"request":"hi"}`)
	got := decode[events.APIGatewayWebsocketProxyRequest](t, w.await(t, "message", 1)[0])
	c := got.RequestContext
	if got.Body != `{"request":"hi"}` || got.IsBase64Encoded || got.Headers != nil {
		t.Errorf("event %+v, want the body and no headers", got)
	}
	connect := decode[events.APIGatewayWebsocketProxyRequest](t, w.calls("connect")[0]).RequestContext
	if c.ConnectionID != connect.ConnectionID || c.ConnectedAt != connect.ConnectedAt || c.RequestID == connect.RequestID || c.MessageID == nil {
		t.Errorf("context %+v, want connection and time of %+v, and ids of its own", c, connect)
	}
	if c.RouteKey != "$default" || c.EventType != "MESSAGE" || c.Stage != "live" || c.APIID != "wsapi1" || c.DomainName != strings.TrimPrefix(w.http, "http://") {
		t.Errorf("context %+v", c)
	}
	if d := cmp.Diff(map[string]any{"principalId": "ada", "sub": "s-1", "n": "5", "b": "true"}, c.Authorizer); d != "" {
		t.Errorf("authorizer (-want +got):\n%s", d)
	}
}

func TestMessageRoutes(t *testing.T) {
	w := open(t, chat(nil), nil)
	conn := dial(t, w.ws, nil)
	for i, tt := range []struct{ body, want string }{
		{`{"action":"shout"}`, "shout"},
		{`{"action":"whisper"}`, "message"},
		{`{"action":"$connect"}`, "message"},
		{`{"action":"$disconnect"}`, "message"},
		{`{"action":{"a":"shout"}}`, "message"},
		{`{"request":"hi"}`, "message"},
		{`["shout"]`, "message"},
		{`not JSON`, "message"},
		{``, "message"},
	} {
		before := len(w.calls(tt.want))
		write(t, conn, tt.body)
		calls := w.await(t, tt.want, before+1)
		if got := decode[events.APIGatewayWebsocketProxyRequest](t, calls[before]).Body; got != tt.body {
			t.Errorf("message %d: %s got %q, want %q", i, tt.want, got, tt.body)
		}
	}
	if n := len(w.calls("connect")) + len(w.calls("disconnect")); n != 1 {
		t.Errorf("$connect and $disconnect ran %d times, want the once of the handshake", n)
	}
}

func TestNestedRouteSelectionWithoutDefault(t *testing.T) {
	w := open(t, chat(nil), func(g *gateway.Gateway) {
		g.Stack.WebSocket.RouteSelection = "$request.body.a.b"
		delete(g.Stack.WebSocket.Routes, "$default")
	})
	conn := dial(t, w.ws, nil)
	write(t, conn, `{"a":{"b":"shout"}}`)
	w.await(t, "shout", 1)
	write(t, conn, `{"a":{"b":"other"}}`)
	if got := decode[map[string]string](t, read(t, conn)); got["message"] != "Forbidden" || got["connectionId"] == "" || got["requestId"] == "" {
		t.Errorf("client is told %v, want Forbidden with both ids", got)
	}
}

func TestMessageFailures(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	tests := []struct {
		name, want string
		run        func(string) (string, string)
	}{
		{"fails", "Internal server error", fails("secret detail")},
		{"no statusCode", "Internal server error", answers(`null`)},
		{"cannot run", "Internal server error", nil},
		{"too slow", "Endpoint request timed out", func(string) (string, string) { <-release; return ok, "" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := chat(map[string]func(string) (string, string){"message": tt.run})
			if tt.run == nil {
				delete(run, "message")
			}
			w := open(t, run, func(g *gateway.Gateway) {
				if tt.name == "too slow" {
					g.Stack.WebSocket.Timeouts = map[string]time.Duration{"$default": 20 * time.Millisecond}
				}
			})
			conn := dial(t, w.ws, nil)
			write(t, conn, "hi")
			got := decode[map[string]string](t, read(t, conn))
			c := decode[events.APIGatewayWebsocketProxyRequest](t, w.calls("message")[0]).RequestContext
			want := map[string]string{"message": tt.want, "connectionId": c.ConnectionID, "requestId": c.RequestID}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("client is told (-want +got):\n%s", d)
			}
		})
	}
}

func TestAnswersOfMessagesAreNotSent(t *testing.T) {
	w := open(t, chat(map[string]func(string) (string, string){
		"message": answers(`{"statusCode":500,"body":"nobody reads this"}`), "shout": fails("x"),
	}), nil)
	conn := dial(t, w.ws, nil)
	write(t, conn, "hi")
	w.await(t, "message", 1)
	write(t, conn, `{"action":"shout"}`)
	if got := read(t, conn); !strings.Contains(got, "Internal server error") {
		t.Errorf("the first thing the client hears is %s, want the failure of the second message", got)
	}
}

func TestMessagesOfOneConnectionRunTogether(t *testing.T) {
	const n = 5
	release := make(chan struct{})
	w := open(t, chat(map[string]func(string) (string, string){
		"message": func(string) (string, string) { <-release; return ok, "" },
	}), nil)
	conn := dial(t, w.ws, nil)
	for i := range n {
		write(t, conn, fmt.Sprint(i))
	}
	calls := w.await(t, "message", n) // none has returned yet
	close(release)
	seen := map[string]bool{}
	for _, c := range calls {
		seen[decode[events.APIGatewayWebsocketProxyRequest](t, c).Body] = true
	}
	if len(seen) != n {
		t.Errorf("functions saw %v, want %d different messages", seen, n)
	}
}

func TestP15Limits(t *testing.T) {
	tests := []struct {
		name        string
		size, frame int
		want        int // close code, 0: taken
	}{
		{"32 KB in one frame", gateway.MaxFrame, gateway.MaxFrame, 0},
		{"a byte more in one frame", gateway.MaxFrame + 1, gateway.MaxFrame + 1, 1009},
		{"128 KB in frames", gateway.MaxMessage, gateway.MaxFrame, 0},
		{"a byte more in frames", gateway.MaxMessage + 1, gateway.MaxFrame, 1009},
		{"1 MB in one frame", 1 << 20, 1 << 20, 1009},
		{"many small frames", 1000, 7, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, chat(nil), nil)
			conn := dial(t, w.ws, nil)
			body := strings.Repeat("a", tt.size)
			go inFrames(t, conn, body, tt.frame)
			if tt.want != 0 {
				if got := closeCode(t, conn); got != tt.want {
					t.Errorf("closed with %d, want %d", got, tt.want)
				}
				wantDisconnect(t, w, tt.want)
				if n := len(w.calls("message")); n != 0 {
					t.Errorf("the function ran %d times", n)
				}
				return
			}
			go closeCode(t, conn)
			if got := decode[events.APIGatewayWebsocketProxyRequest](t, w.await(t, "message", 1)[0]).Body; got != body {
				t.Errorf("the function got %d bytes, want %d", len(got), len(body))
			}
		})
	}
}

// wantDisconnect checks the code that $disconnect is told.
func wantDisconnect(t *testing.T, w *world, code int) {
	t.Helper()
	c := decode[events.APIGatewayWebsocketProxyRequest](t, w.await(t, "disconnect", 1)[0]).RequestContext
	if int(c.DisconnectStatusCode) != code || c.DisconnectReason == nil || c.EventType != "DISCONNECT" || c.RouteKey != "$disconnect" {
		t.Errorf("$disconnect is told %d (%s %s), want %d", c.DisconnectStatusCode, c.EventType, c.RouteKey, code)
	}
}

func TestBinaryIsRefused(t *testing.T) {
	w := open(t, chat(nil), nil)
	conn := dial(t, w.ws, nil)
	if err := conn.Write(t.Context(), websocket.MessageBinary, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	if got := closeCode(t, conn); got != 1003 {
		t.Errorf("closed with %d, want 1003", got)
	}
	wantDisconnect(t, w, 1003)
}

func TestDisconnect(t *testing.T) {
	tests := []struct {
		name string
		end  func(*websocket.Conn) error
		want int
	}{
		{"goodbye", func(c *websocket.Conn) error { return c.Close(1000, "bye") }, 1000},
		{"own code", func(c *websocket.Conn) error { return c.Close(4001, "") }, 4001},
		{"no code", func(c *websocket.Conn) error { return c.Close(1005, "") }, 1005},
		{"gone", func(c *websocket.Conn) error { return c.CloseNow() }, 1006},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, chat(nil), nil)
			if err := tt.end(dial(t, w.ws, nil)); err != nil {
				t.Log(err)
			}
			wantDisconnect(t, w, tt.want)
		})
	}
}

func TestCloseSaysGoingAway(t *testing.T) {
	w := open(t, chat(nil), nil)
	conn := dial(t, w.ws, nil)
	w.await(t, "connect", 1)
	var closed sync.WaitGroup
	closed.Go(func() {
		if got := closeCode(t, conn); got != 1001 {
			t.Errorf("closed with %d, want 1001", got)
		}
	})
	if err := w.gateway.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	closed.Wait()
	if n := len(w.calls("disconnect")); n != 1 {
		t.Errorf("$disconnect ran %d times before Close returned, want 1", n)
	}
	if status, _ := refused(t, w.ws, nil); status != 503 {
		t.Errorf("a handshake after Close is answered %d, want 503", status)
	}
}

func TestCloseDoesNotWaitForASilentClient(t *testing.T) {
	w := open(t, chat(nil), nil)
	dial(t, w.ws, nil) // never reads, so never answers a close
	w.await(t, "connect", 1)
	start := time.Now()
	if err := w.gateway.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 4*time.Second { // the WebSocket library alone would wait 5 s
		t.Errorf("Close took %v", took)
	}
	wantDisconnect(t, w, 1001)
}

func TestClientThatLeavesDuringConnect(t *testing.T) {
	left := make(chan struct{})
	w := open(t, chat(map[string]func(string) (string, string){
		"connect": func(string) (string, string) { <-left; return ok, "" },
	}), nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.http, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	w.await(t, "connect", 1)
	conn.Close()
	close(left)
	wantDisconnect(t, w, 1006)
}
