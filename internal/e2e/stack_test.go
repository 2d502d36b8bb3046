package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
)

// world is a running cloud with an outside program's clients and everything that its log said.
type world struct {
	*cloud.Cloud // nil: a process of its own
	door
	info   cloud.Info
	log    *record
	issuer *identity.Issuer // holds the pool's key too: tokens that the cloud itself would not make
	folder string           // to remove; empty: somebody else's

	ended   sync.Once
	outcome error

	mu     sync.Mutex
	tokens []string
	told   []bus.Event
}

// stack is a world as one test sees it.
type stack struct {
	*world
	t *testing.T
}

// open starts a cloud on free ports. Without a data folder it gets one of its own, so that the pool's key is on disk.
func open(o cloud.Options) (*world, error) {
	w := &world{log: &record{}}
	if o.Data == "" {
		dir, err := os.MkdirTemp("", "steadfast-data-")
		if err != nil {
			return nil, err
		}
		w.folder, o.Data = dir, dir
	}
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	o.Dir, o.Out, o.Verbose = project, w.log, true
	o.RetryDelays = []time.Duration{200 * time.Millisecond, 400 * time.Millisecond}
	var err error
	if w.Cloud, err = cloud.Start(context.Background(), o); err != nil {
		return nil, err
	}
	w.info = w.Info()
	w.door = doorOf(w.info)
	w.Watch(func(e bus.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, e)
	})
	w.issuer, err = identity.New(identity.Options{URL: w.info.Issuer, ClientID: "steadfastdev", Dir: o.Data})
	return w, err
}

// end closes the cloud, looks for tokens in what it said and for calls that the template did not grant. May be called twice.
func (w *world) end() error {
	w.ended.Do(func() { w.outcome = w.endNow() })
	return w.outcome
}

func (w *world) endNow() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := errors.Join(w.Close(ctx), books.add(w.IAMReport()))
	log := w.log.String()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, token := range w.tokens {
		if standsIn(log, token) {
			err = errors.Join(err, fmt.Errorf("a token stands in the log"))
			break
		}
	}
	if w.folder != "" {
		err = errors.Join(err, os.RemoveAll(w.folder))
	}
	return err
}

// standsIn reports whether the telling part of a token stands in text: its signature, or the whole of what is none.
func standsIn(text, token string) bool {
	signature := token[strings.LastIndexByte(token, '.')+1:]
	return len(signature) >= 20 && strings.Contains(text, signature[:20])
}

// start gives a test a cloud of its own.
func start(t *testing.T, o cloud.Options) stack {
	t.Helper()
	if o.Model == nil && o.ModelSpec == "" {
		o.Model = quick()
	}
	w, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	s := stack{w, t}
	t.Cleanup(s.stop)
	return s
}

// stop ends the cloud. May be called twice.
func (s stack) stop() {
	s.t.Helper()
	if err := s.end(); err != nil {
		s.t.Error(err)
	}
	s.showLogOfFailed()
}

func (s stack) showLogOfFailed() {
	if s.t.Failed() {
		path := filepath.Join(os.TempDir(), "steadfast-e2e-"+strings.ReplaceAll(s.t.Name(), "/", "-")+".log")
		if err := os.WriteFile(path, []byte(s.log.String()), 0o600); err == nil {
			s.t.Logf("what the cloud said is in %s", path)
		}
	}
}

// sub is a user's id in every token.
func sub(user string) string {
	i, err := identity.New(identity.Options{URL: "https://example.com"})
	if err != nil {
		panic(err)
	}
	return i.Sub(user)
}

// token signs in as user.
func (s stack) token(user string) string {
	s.t.Helper()
	return s.tokenWith(user, identity.TokenOptions{})
}

func (s stack) tokenWith(user string, o identity.TokenOptions) string {
	s.t.Helper()
	token, err := s.issuer.Token(user, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.keep(token)
	return token
}

// keep notes a token that must not be found in the log.
func (w *world) keep(token string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens = append(w.tokens, token)
}

// heard gives the events that the bus has accepted, of one detail type.
func (w *world) heard(detailType string) []bus.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []bus.Event
	for _, e := range w.told {
		if e.DetailType == detailType {
			out = append(out, e)
		}
	}
	return out
}

// answer is what an HTTP request came back with.
type answer struct {
	status int
	body   string
}

// as makes a request with a token of user; an empty user has none.
func (s stack) as(user, method, path, body string) answer {
	s.t.Helper()
	token := ""
	if user != "" {
		token = s.token(user)
	}
	return s.with(token, method, path, body)
}

func (s stack) with(token, method, path, body string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, s.info.HTTP+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return send(s.t, req)
}

func send(t *testing.T, req *http.Request) answer {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, strings.TrimSpace(string(body))}
}

// is fails the test unless the status is want, and gives the body as JSON.
func (a answer) is(t *testing.T, want int) map[string]any {
	t.Helper()
	if a.status != want {
		t.Fatalf("answer %d %s, want %d", a.status, a.body, want)
	}
	out := map[string]any{}
	if a.body != "" {
		if err := json.Unmarshal([]byte(a.body), &out); err != nil {
			t.Fatalf("%q: %v", a.body, err)
		}
	}
	return out
}

// quiet waits until nothing is under way in a cloud of one's own: no event, no asynchronous invocation.
func (s stack) quiet() {
	s.t.Helper()
	eventually(s.t, "events to be delivered", func() bool { return s.as("", "GET", "/_dev/pending", "").body == `{"pending":0}` })
}

// eventually polls until ok, for at most 30 s.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline, tick := time.After(30*time.Second), time.NewTicker(25*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
