package gateway_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
)

// pipes is a listener without a network, so that a test's time stands still while nothing happens.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// still starts a world as open does, within a bubble of synctest, and gives the client that reaches it.
func still(t *testing.T, run map[string]func(string) (string, string)) (*world, *http.Client) {
	t.Helper()
	w := &world{functions: &functions{run: run}, issuer: issuer(), http: "http://gateway", ws: "ws://gateway/live"}
	w.gateway = &gateway.Gateway{Invoker: w.functions, Keys: w.issuer.Key, Stack: stack()}
	listener := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: w.gateway.PublicHandler()}
	go func() { _ = server.Serve(listener) }()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		mine, theirs := net.Pipe()
		listener.conns <- theirs
		return mine, nil
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = w.gateway.Close(context.Background())
		close(listener.closed)
		_ = server.Close()
	})
	return w, &http.Client{Transport: transport}
}

// listen reads until the connection ends and gives the close code and when it ended.
func listen(t *testing.T, conn *websocket.Conn) <-chan ending {
	out := make(chan ending, 1)
	start := time.Now()
	go func() {
		for {
			if _, _, err := conn.Read(t.Context()); err != nil {
				out <- ending{int(websocket.CloseStatus(err)), time.Since(start)}
				return
			}
		}
	}()
	return out
}

type ending struct {
	code  int
	after time.Duration
}

// repeat does do every so often until it fails or ctx is over.
func repeat(ctx context.Context, every time.Duration, do func() error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if do() != nil {
				return
			}
		}
	}
}

func TestIdleAndLife(t *testing.T) {
	tests := []struct {
		name  string
		every time.Duration // between signs of life, 0: none
		sign  func(*testing.T, *websocket.Conn) error
		want  time.Duration
	}{
		{name: "nothing at all", want: 10 * time.Minute},
		{name: "messages", every: 9 * time.Minute, want: 2 * time.Hour, sign: func(t *testing.T, c *websocket.Conn) error {
			return c.Write(t.Context(), websocket.MessageText, []byte("hi"))
		}},
		{name: "pings", every: 9 * time.Minute, want: 2 * time.Hour, sign: func(t *testing.T, c *websocket.Conn) error {
			return c.Ping(t.Context())
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, client := still(t, chat(nil))
				conn := dial(t, w.ws, &websocket.DialOptions{HTTPClient: client})
				ended := listen(t, conn)
				if tt.sign != nil {
					go repeat(t.Context(), tt.every, func() error { return tt.sign(t, conn) })
				}
				if got, want := <-ended, (ending{1001, tt.want}); got != want {
					t.Errorf("the connection ended with %d after %v, want %d after %v", got.code, got.after, want.code, want.after)
				}
				wantDisconnect(t, w, 1001)
			})
		})
	}
}

func TestDeadClientEndsInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := still(t, chat(nil))
		dial(t, w.ws, &websocket.DialOptions{HTTPClient: client}) // never reads, so never answers a close
		start := time.Now()
		w.await(t, "connect", 1)
		time.Sleep(gateway.DefaultIdleAfter + time.Minute)
		wantDisconnect(t, w, 1001)
		if late := time.Since(start); late > gateway.DefaultIdleAfter+time.Minute {
			t.Errorf("$disconnect ran after %v", late)
		}
	})
}

func TestHTTPTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finished := make(chan struct{})
		w, client := still(t, map[string]func(string) (string, string){
			"open": func(string) (string, string) { time.Sleep(40 * time.Second); close(finished); return ok, "" },
		})
		start := time.Now()
		res, err := client.Post(w.http+"/open", "text/plain", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 503 || string(body) != `{"message":"Service Unavailable"}` || time.Since(start) != 30*time.Second {
			t.Errorf("answer %d %s after %v, want 503 after 30 s", res.StatusCode, body, time.Since(start))
		}
		<-finished // the function is not stopped by it
	})
}

// slowBuild is an Invoker whose functions take two minutes before they can run at all.
type slowBuild struct{ *functions }

func (slowBuild) Prepare(context.Context, string) error {
	time.Sleep(2 * time.Minute)
	return nil
}

func TestPreparingIsNotTheFunctionsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := still(t, map[string]func(string) (string, string){"open": answers(ok)})
		w.gateway.Invoker = slowBuild{w.functions}
		res, err := client.Post(w.http+"/open", "text/plain", nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("answer %d after a long build, want 200", res.StatusCode)
		}
	})
}
