package cloud_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/transcript"
)

// project is a copy of the test project as a module of its own, and binaries what it is built to. Both are shared.
var project, binaries string

func TestMain(m *testing.M) { os.Exit(withProject(m.Run)) }

func withProject(run func() int) int {
	if dir := os.Getenv("TEST_CLOUD_PROJECT"); dir != "" { // a process of TestKillNine
		project, binaries = dir, filepath.Join(dir, ".bin")
		return run()
	}
	dir, err := os.MkdirTemp("", "cloud-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	project, binaries = dir, filepath.Join(dir, ".bin")
	if err := copyProject(dir); err != nil {
		panic(err)
	}
	return run()
}

// copyProject gives the test project the dependencies of the module that it tests.
func copyProject(dir string) error {
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "project"))); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		return err
	}
	mod = regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(mod, []byte("module example.com/project"))
	sum, err := os.ReadFile(filepath.Join("..", "..", "go.sum"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600)
}

// buffer takes what many goroutines write.
type buffer = transcript.Transcript

// running is a cloud under test.
type running struct {
	*cloud.Cloud
	t   *testing.T
	out *buffer
}

func start(t *testing.T, o cloud.Options) *running {
	t.Helper()
	out := &buffer{}
	o.Dir, o.Cache, o.Out = project, binaries, out
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	c, err := cloud.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{c, t, out}
	t.Cleanup(r.stop)
	return r
}

func (r *running) stop() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		r.t.Error(err)
	}
	if r.t.Failed() {
		r.t.Logf("the cloud said:\n%s", r.out)
	}
}

func (r *running) token(user string) string {
	r.t.Helper()
	token, err := r.Token(user)
	if err != nil {
		r.t.Fatal(err)
	}
	return token
}

// answer is what an HTTP request came back with.
type answer struct {
	status int
	body   string
}

func (r *running) http(method, path, token, body string) answer {
	r.t.Helper()
	return r.at(r.Info().HTTP, method, path, token, body)
}

func (r *running) at(base, method, path, token, body string) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return send(r.t, req)
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
	return answer{resp.StatusCode, string(body)}
}

// note tells whether GET /notes/{id} gives want.
func (r *running) note(id, token, want string) func() bool {
	return func() bool { return r.http("GET", "/notes/"+id, token, "") == answer{200, want} }
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline, tick := time.After(60*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func decode[T any](t *testing.T, body string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return out
}
