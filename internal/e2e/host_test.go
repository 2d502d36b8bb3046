package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
)

// host is `steadfast dev` as a process of its own.
type host struct {
	stack
	process *exec.Cmd
}

// dev starts a host on a folder and waits until it is ready. environment is added to the test's own.
func dev(t *testing.T, data, addr string, environment ...string) host {
	t.Helper()
	file := filepath.Join(t.TempDir(), "info.json")
	w := &world{log: &record{}}
	cmd := exec.Command(program, "dev", "--dir", project, "--addr", addr, "--data", data, "--info", file, "--verbose")
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), environment...), w.log, w.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := host{stack{w, t}, cmd}
	t.Cleanup(h.end)
	eventually(t, "the host to be ready", func() bool {
		body, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(body, &w.info) == nil
	})
	w.door = doorOf(w.info)
	var err error
	if w.issuer, err = identity.New(identity.Options{URL: w.info.Issuer, ClientID: "steadfastdev", Dir: data}); err != nil {
		t.Fatal(err)
	}
	return h
}

// kill ends the host as kill -9 does.
func (h host) kill() {
	h.t.Helper()
	if err := h.process.Process.Kill(); err != nil {
		h.t.Fatal(err)
	}
	_ = h.process.Wait() // killed, as said
}

// end lets the host end in good order, if it still runs, and looks at what it said.
func (h host) end() {
	if h.process.ProcessState == nil {
		_ = h.process.Process.Signal(syscall.SIGINT)
		if err := h.process.Wait(); err != nil {
			h.t.Errorf("the host ended with %v", err)
		}
	}
	for _, token := range h.tokens {
		if standsIn(h.log.String(), token) {
			h.t.Error("a token stands in the log")
		}
	}
	h.showLogOfFailed()
}

// TestHostKilled: the whole host dies in the middle of a turn that has used a tool, and of a task. Started again on the same
// folder it knows every session, finishes what was begun, and runs no tool twice.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	data, id := t.TempDir(), uuid.NewString()
	first := dev(t, data, "127.0.0.1:0")
	p := first.connect("ada", "")
	p.ask(id, "my name is Ada")
	task := first.task("ada", `{"request":"call get_current_time slow 250 ms"}`)
	bound := contract.TaskSessionPrefix + task
	eventually(t, "the task to talk", func() bool { return len(of[contract.MessageAppended](t, first.story(t, bound))) > 0 })
	p.say(id, "call get_current_time slow 250 ms")
	p.untilText(0)
	first.kill()

	second := dev(t, data, strings.TrimPrefix(first.info.HTTP, "http://"))
	if second.info.HTTP != first.info.HTTP {
		t.Fatalf("the host moved from %s to %s", first.info.HTTP, second.info.HTTP)
	}
	second.anHourLater(t, id)
	second.anHourLater(t, bound)
	second.rest(t)
	for _, session := range []string{id, bound} {
		story := second.story(t, session)
		done, results := of[contract.TurnCompleted](t, story), of[contract.ActionResult](t, story)
		if len(results) != 1 || !strings.HasPrefix(done[len(done)-1].Result, "get_current_time answered: ") {
			t.Errorf("%s: %d tool results, the turns came to %+v", session, len(results), done)
		}
	}
	if got := second.finished("ada", task); got["status"] != "COMPLETED" {
		t.Errorf("task = %v", got)
	}
	again := second.connect("ada", "") // with a token as before: the pool's key is kept too
	contains(t, "the answer after the crash", again.ask(id, "What is my name?").text, "Ada")
	contains(t, "what was said last", again.ask(id, "What did I say first?").text, "my name is Ada")
}

// TestHostEndsInGoodOrder: ctrl-c ends it within its patience, and a second host on a folder in use is one clear error.
func TestHostEndsInGoodOrder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	h := dev(t, data, "127.0.0.1:0")
	said, err := exec.Command(program, "dev", "--dir", project, "--addr", "127.0.0.1:0", "--data", data).CombinedOutput()
	if err == nil || strings.Count(string(said), "\n") != 1 || !strings.Contains(string(said), "is in use by another local cloud") {
		t.Errorf("a second host on the same folder: %v\n%s", err, said)
	}
	h.connect("ada", "").ask(uuid.NewString(), `say "hello"`)
	if err := h.process.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := h.process.Wait(); err != nil {
		t.Errorf("the host ended with %v", err)
	}
	start(t, cloud.Options{Data: data}) // the folder is free again
}
