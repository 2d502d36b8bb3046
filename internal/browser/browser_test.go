package browser_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/transcript"
)

// programs is the folder of the Node programs.
var programs = filepath.Join("testdata", "program")

// TestClient: every promise of the client, against scripted sockets.
func TestClient(t *testing.T) {
	needsNode(t)
	t.Run("a WebSocket of a package", func(t *testing.T) { node(t, "client.test.mjs", time.Minute) })
	t.Run("the WebSocket of Node", func(t *testing.T) {
		node(t, "client.test.mjs", time.Minute, "STEADFAST_WEBSOCKET=own", "NODE_OPTIONS=--experimental-websocket")
	})
}

// TestStack: the client in Node against a running stack.
func TestStack(t *testing.T) {
	needsNode(t)
	node(t, "stack.test.mjs", 5*time.Minute, "STEADFAST_INFO="+dev(t))
}

// TestPage: the example page in a browser against a running stack.
func TestPage(t *testing.T) {
	needsNode(t)
	at := chromium()
	if at == "" {
		t.Skip("there is no Chromium: install it, or name one in STEADFAST_CHROMIUM")
	}
	node(t, "page.test.mjs", 5*time.Minute, "STEADFAST_INFO="+dev(t), "STEADFAST_CHROMIUM="+at)
}

// needsNode skips a test where Node or its packages are not there.
func needsNode(t *testing.T) {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath("node"); err != nil {
		missing = "there is no node"
	} else if _, err := os.Stat(filepath.Join(programs, "node_modules", "ws", "package.json")); err != nil {
		missing = "the packages of the Node programs are not installed"
	}
	switch {
	case missing == "":
	case os.Getenv("STEADFAST_BROWSER") == "1":
		t.Fatal(missing)
	default:
		t.Skipf("%s: run make test-browser", missing)
	}
}

// chromium gives the path of a browser, "" if there is none.
func chromium() string {
	for _, name := range []string{os.Getenv("STEADFAST_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			return at
		}
	}
	return ""
}

// node runs a file of tests with Node's own runner; what it prints is shown.
func node(t *testing.T, file string, limit time.Duration, environment ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	run := exec.CommandContext(ctx, "node", "--test", "--test-reporter=spec", file)
	run.Dir, run.Env = programs, append(os.Environ(), environment...)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) } // so that it ends what it started
	run.WaitDelay = 10 * time.Second
	said, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v", file, errors.Join(err, ctx.Err()))
	}
	t.Logf("%s", said)
}

// dev starts `steadfast dev` and gives the file with its addresses.
func dev(t *testing.T) string {
	t.Helper()
	project, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command, info := filepath.Join(dir, "steadfast"), filepath.Join(dir, "info.json")
	compile := exec.CommandContext(t.Context(), "go", "build", "-o", command, "./cmd/steadfast")
	compile.Dir = project
	if said, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("build the command line: %v\n%s", err, said)
	}
	log := &transcript.Transcript{}
	stack := exec.Command(command, "dev", "--addr", "127.0.0.1:0", "--info", info, "--dir", project, "--verbose")
	stack.Stdout, stack.Stderr = log, log
	if err := stack.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- stack.Wait() }()
	t.Cleanup(func() {
		_ = stack.Process.Signal(os.Interrupt) // it may have ended by itself, which Wait tells
		if err := <-ended; err != nil {
			t.Errorf("steadfast dev ended with %v", err)
		}
		if t.Failed() {
			t.Logf("what the stack said:\n%s", log)
		}
	})
	await(t, info, ended, log)
	return info
}

// await waits until the stack has written where it is.
func await(t *testing.T, info string, ended chan error, log *transcript.Transcript) {
	t.Helper()
	tick, deadline := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		if _, err := os.Stat(info); err == nil {
			return
		}
		select {
		case <-tick.C:
		case err := <-ended:
			ended <- err
			t.Fatalf("steadfast dev ended before it was up: %v\n%s", err, log)
		case <-deadline:
			t.Fatalf("steadfast dev is not up after a minute:\n%s", log)
		}
	}
}
