package lambda_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
	"github.com/steadfast-agents/steadfast/internal/transcript"
)

// cache is shared by all tests that do not change sources, so that each function is built once.
var cache string

func TestMain(m *testing.M) {
	var err error
	if cache, err = os.MkdirTemp("", "lambda-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(cache)
	os.Exit(code)
}

// safeBuffer takes logs and output of many goroutines.
type safeBuffer = transcript.Transcript

// host is a lambda.Host with what it logged and printed.
type host struct {
	*lambda.Host
	t           *testing.T
	log, output *safeBuffer
}

// open starts a host on the test project; change may alter its configuration.
func open(t *testing.T, change func(*lambda.Config)) *host {
	t.Helper()
	h := &host{t: t, log: &safeBuffer{}, output: &safeBuffer{}}
	c := lambda.Config{
		Dir: filepath.Join("testdata", "project"), Cache: cache, Endpoint: "http://127.0.0.1:1",
		Functions: []sam.Function{
			{
				Name: "probe", Dir: "functions/probe", Memory: 256, Timeout: 20 * time.Second,
				Env: map[string]string{"OWN": "template", "OTHER": "kept"}, Async: sam.AsyncConfig{MaxRetries: 2, MaxAge: time.Hour},
			},
			{Name: "stillborn", Dir: "functions/stillborn", Timeout: 3 * time.Second},
			{Name: "greet", Dir: "functions/greet", Timeout: 3 * time.Second},
		},
		RetryDelays: []time.Duration{time.Millisecond},
		Log:         slog.New(slog.NewTextHandler(h.log, nil)), Output: h.output,
	}
	if change != nil {
		change(&c)
	}
	var err error
	if h.Host, err = lambda.Open(c); err != nil {
		t.Fatal(err)
	}
	h.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return h
}

// run invokes probe and fails the test if it could not run at all.
func (h *host) run(function, payload string) invoke.Result {
	h.t.Helper()
	r, err := h.Invoke(h.t.Context(), function, "test", []byte(payload))
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// report is the JSON of a failed function.
func report(t *testing.T, r invoke.Result) (message, kind string) {
	t.Helper()
	var f struct{ ErrorMessage, ErrorType string }
	if err := json.Unmarshal(r.Payload, &f); err != nil {
		t.Fatalf("%q is no error report: %v", r.Payload, err)
	}
	return f.ErrorMessage, f.ErrorType
}

// eventually waits until ok, for at most 20 s.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func exists(path string) func() bool {
	return func() bool { _, err := os.Stat(path); return err == nil }
}

func content(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// lines counts the log lines that contain all of the parts.
func (h *host) lines(parts ...string) int {
	n := 0
	for line := range strings.Lines(h.log.String()) {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			n++
		}
	}
	return n
}
