package interop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/transcript"
)

// pair is a running stack and a running Node program beside it.
type pair struct {
	dir   string // of info, log and recalled sessions
	info  stackInfo
	stack *exec.Cmd
	log   *transcript.Transcript
	node  *node
}

// stackInfo is what `steadfast dev --info` tells.
type stackInfo struct{ HTTP, AWS, Table, Bus, Region string }

// bench is a pair as one test sees it.
type bench struct {
	*pair
	t *testing.T
}

// startPair starts `steadfast dev` and, once it is up, the program.
func startPair(format string) (*pair, error) {
	dir, err := os.MkdirTemp("", "steadfast-interop-")
	if err != nil {
		return nil, err
	}
	p := &pair{dir: dir, log: &transcript.Transcript{}}
	infoFile := filepath.Join(dir, "info.json")
	p.stack = exec.Command(command, "dev", "--addr", "127.0.0.1:0", "--info", infoFile, "--dir", project, "--verbose",
		"--parameter", "SnapshotFormat="+format, "--parameter", "McpAllowedHosts=mcp.example.com")
	p.stack.Stdout, p.stack.Stderr = p.log, p.log
	if err := p.stack.Start(); err != nil {
		return nil, err
	}
	if err := p.await(infoFile); err != nil {
		return nil, errors.Join(err, p.end())
	}
	if p.node, err = startNode(p.info, p.log); err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

// await reads the info file as soon as it is there.
func (p *pair) await(infoFile string) error {
	tick, deadline := time.NewTicker(20*time.Millisecond), time.After(60*time.Second)
	defer tick.Stop()
	for {
		if raw, err := os.ReadFile(infoFile); err == nil {
			return json.Unmarshal(raw, &p.info)
		}
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("steadfast dev is not up after a minute:\n%s", p.log)
		}
	}
}

// end stops both and removes their files.
func (p *pair) end() error {
	var errs []error
	if p.node != nil {
		errs = append(errs, p.node.end())
	}
	if err := p.stack.Process.Signal(os.Interrupt); err == nil {
		errs = append(errs, p.stack.Wait())
	}
	return errors.Join(append(errs, os.RemoveAll(p.dir))...)
}

func (b bench) showLogOfFailed() {
	if b.t.Failed() {
		path := filepath.Join(os.TempDir(), "steadfast-interop-"+strings.ReplaceAll(b.t.Name(), "/", "-")+".log")
		if err := os.WriteFile(path, []byte(b.log.String()), 0o600); err == nil {
			b.t.Logf("what both said is in %s", path)
		}
	}
}

// eventually polls until ok, for at most a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(25*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func contains(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s is %q, want it to hold %q", what, got, want)
	}
}
