package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// functions is an Invoker of Go functions that remembers what they were called with. One that is not in it fails to
// run, as after a build failure.
type functions struct {
	run map[string]func(event string) (answer string, failure string)

	mu       sync.Mutex
	changed  chan struct{}
	triggers []string
	events   map[string][]string // by function
}

func (f *functions) Invoke(_ context.Context, function, trigger string, payload []byte) (invoke.Result, error) {
	f.mu.Lock()
	if f.events == nil {
		f.events = map[string][]string{}
	}
	f.triggers = append(f.triggers, trigger)
	f.events[function] = append(f.events[function], string(payload))
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
	f.mu.Unlock()
	run, ok := f.run[function]
	if !ok {
		return invoke.Result{}, fmt.Errorf("no function %s", function)
	}
	answer, failure := run(string(payload))
	return invoke.Result{Payload: []byte(answer), FunctionError: failure}, nil
}

func (f *functions) Enqueue(context.Context, string, string, []byte) error {
	panic("the gateway waits for its functions")
}

// calls gives the events that function has had so far.
func (f *functions) calls(function string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.events[function]...)
}

// await gives the events of function once there are n of them.
func (f *functions) await(t *testing.T, function string, n int) []string {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		f.mu.Lock()
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		changed, have := f.changed, append([]string(nil), f.events[function]...)
		f.mu.Unlock()
		if len(have) >= n {
			return have
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%s was called %d times, want %d", function, len(have), n)
		}
	}
}

// answers is a function that always answers the same.
func answers(answer string) func(string) (string, string) {
	return func(string) (string, string) { return answer, "" }
}

// fails is a function that always fails.
func fails(message string) func(string) (string, string) {
	return func(string) (string, string) {
		return fmt.Sprintf(`{"errorMessage":%q,"errorType":"errorString"}`, message), "Unhandled"
	}
}

const ok = `{"statusCode":200}`

// world is a gateway behind a real server, with an issuer for its tokens.
type world struct {
	*functions
	gateway *gateway.Gateway
	issuer  *identity.Issuer
	http    string // base address
	ws      string
}

// open starts a world with the routes of the tests. change may be nil.
func open(t *testing.T, run map[string]func(string) (string, string), change func(*gateway.Gateway)) *world {
	t.Helper()
	w := &world{functions: &functions{run: run}, issuer: issuer()}
	w.gateway = &gateway.Gateway{Invoker: w.functions, Keys: w.issuer.Key, Stack: stack()}
	if change != nil {
		change(w.gateway)
	}
	server := httptest.NewServer(w.gateway.PublicHandler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := w.gateway.Close(ctx); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	w.http, w.ws = server.URL, strings.Replace(server.URL, "http", "ws", 1)+"/live"
	return w
}

// issuer is the one of all tests: making a key takes a while.
var issuer = sync.OnceValue(func() *identity.Issuer {
	i, err := identity.New(identity.Options{URL: "http://issuer.example/pool", ClientID: "dev"})
	if err != nil {
		panic(err)
	}
	return i
})

func stack() *sam.Stack {
	return &sam.Stack{
		Region: "us-east-1", Account: "000000000000",
		HTTP: &sam.HTTPAPI{
			ID: "httpapi1", JWT: sam.JWT{Issuer: "http://issuer.example/pool", Audience: []string{"dev"}},
			Routes: []sam.HTTPRoute{
				{Method: "GET", Path: "/things", Function: "list", Auth: true},
				{Method: "POST", Path: "/things/{id}/parts", Function: "add", Auth: true},
				{Method: "POST", Path: "/open", Function: "open"},
			},
		},
		WebSocket: &sam.WebSocketAPI{
			ID: "wsapi1", Stage: "live", Authorizer: "authorize", RouteSelection: "$request.body.action",
			Routes: map[string]string{"$connect": "connect", "$disconnect": "disconnect", "$default": "message", "shout": "shout"},
		},
	}
}

// token gives a token of user that the JWT authorizer accepts.
func (w *world) token(t *testing.T, user string, o identity.TokenOptions) string {
	t.Helper()
	token, err := w.issuer.Token(user, o)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// decode reads an event or an answer.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}
