package interop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// program is the folder of the Node program; project the root of the module; command the built command line.
var program, project, command string

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // tests mostly wait for other processes
	os.Exit(withCommand(m.Run))
}

// withCommand runs the tests with a command line built from this tree. Without Node they are skipped one by one.
func withCommand(run func() int) int {
	var err error
	if program, err = filepath.Abs(filepath.Join("testdata", "program")); err != nil {
		panic(err)
	}
	if project, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		panic(err)
	}
	if missing() != "" {
		return run()
	}
	dir, err := os.MkdirTemp("", "steadfast-interop-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	command = filepath.Join(dir, "steadfast")
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := run()
	for _, p := range pairs {
		if err := p.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	return status
}

// build builds the command line, and the functions, so that no test waits for a compiler.
func build() error {
	compile := exec.Command("go", "build", "-o", command, "./cmd/steadfast")
	compile.Dir = project
	if said, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("build the command line: %w\n%s", err, said)
	}
	c, err := cloud.Start(context.Background(), cloud.Options{Dir: project, Addr: "127.0.0.1:0", Out: os.Stderr})
	if err != nil {
		return err
	}
	return errors.Join(c.Build(context.Background()), c.Close(context.Background()))
}

// missing says what the tests lack on this machine.
func missing() string {
	if _, err := exec.LookPath("node"); err != nil {
		return "there is no node"
	}
	if _, err := os.Stat(filepath.Join(program, "node_modules", "@readysetcloud", "agent", "package.json")); err != nil {
		return "the TypeScript package is not installed"
	}
	return ""
}

// The two ways in which a stack keeps its history.
const (
	segments = "segments"
	strands  = "strands"
)

// pairs are the stacks that were started, by snapshot format, each with a Node program beside it. Tests share them and look at
// sessions and tasks of their own only.
var (
	pairs   = map[string]*pair{}
	pairing sync.Mutex
)

// on gives a test the pair of one snapshot format.
func on(t *testing.T, format string) bench {
	t.Helper()
	if m := missing(); m != "" {
		if os.Getenv("STEADFAST_INTEROP") == "1" {
			t.Fatal(m)
		}
		t.Skipf("%s: run make test-interop", m)
	}
	pairing.Lock()
	defer pairing.Unlock()
	if pairs[format] == nil {
		p, err := startPair(format)
		if err != nil {
			t.Fatal(err)
		}
		pairs[format] = p
	}
	b := bench{pairs[format], t}
	t.Cleanup(b.showLogOfFailed)
	return b
}
