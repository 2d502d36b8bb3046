package rehearsal_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
)

// dev is a `steadfast dev` as a user starts it. The tests know of it what it writes for programs outside.
type dev struct {
	info struct{ HTTP, AWS, Issuer string }
	env  map[string]map[string]string // by the function's logical id
	file string                       // of env
	data string
}

// startDev starts one that listens on free ports of host, and holds its functions to their policies.
func startDev(t *testing.T, host string) *dev {
	t.Helper()
	dir := t.TempDir()
	d := &dev{file: filepath.Join(dir, "env.json"), data: filepath.Join(dir, "data")}
	program, info := filepath.Join(scratch, "steadfast"), filepath.Join(dir, "info.json")
	run(t, nil, "go", "build", "-o", program, "./cmd/steadfast")
	p, err := begin(exec.Command(program, "dev", "--json", "--iam-report", "--dir", project, "--data", d.data, "--addr", host+":0",
		"--aws-addr", host+":0", "--info", info, "--env-vars", d.file))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.end(t, p) })
	if !p.comesUp(func() bool { _, err := os.Stat(info); return err == nil }) {
		t.Fatal("steadfast dev does not come up")
	}
	readJSON(t, info, &d.info)
	readJSON(t, d.file, &d.env)
	return d
}

// end interrupts it and holds its last line, the report on permissions, against the policies: nothing was denied.
func (d *dev) end(t *testing.T, p *process) {
	p.end(syscall.SIGINT)
	if p.failure != nil {
		t.Fatalf("steadfast dev: %v\n%s", p.failure, &p.said)
	}
	lines := strings.Split(strings.TrimSpace(p.out.String()), "\n")
	var report struct {
		Functions []struct {
			Function string
			Calls    int
			Denied   []struct{ Action, Resource string }
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &report); err != nil {
		t.Errorf("the report on permissions: %v", err)
	}
	calls := 0
	for _, f := range report.Functions {
		calls += f.Calls
		for _, denied := range f.Denied {
			t.Errorf("%s was denied %s on %s", f.Function, denied.Action, denied.Resource)
		}
	}
	if calls == 0 {
		t.Error("no function called AWS under its policies")
	}
	if t.Failed() {
		t.Logf("steadfast dev said:\n%s", &p.said)
	}
}

// own has the local cloud's own function answer an event. It is built first if need be.
func (d *dev) own(t *testing.T, function string, event []byte) []byte {
	t.Helper()
	return post(t, d.info.AWS+"/2015-03-31/functions/"+function+"/invocations", event)
}

// warm has the functions that events wake in the local cloud built before anything waits for them. They refuse the event.
func (d *dev) warm(t *testing.T) {
	t.Helper()
	for _, function := range []string{"run-turn", "run-agent-task"} {
		d.own(t, function, []byte(`{}`))
	}
}

// token is good for the user of the sample events. It is signed with the key that the local cloud keeps in its data folder.
func (d *dev) token(t *testing.T) string {
	t.Helper()
	issuer, err := identity.New(identity.Options{URL: d.info.Issuer, ClientID: "steadfastdev", Dir: d.data})
	if err != nil {
		t.Fatal(err)
	}
	token, err := issuer.Token("ada", identity.TokenOptions{Claims: map[string]any{"sub": "c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10"}})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// post gives the body of the answer. It waits for a server that has just been started.
func post(t *testing.T, url string, body []byte) []byte {
	t.Helper()
	var answer []byte
	eventually(t, "an answer of "+url, func() bool {
		resp, err := http.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		answer, err = io.ReadAll(resp.Body)
		return err == nil
	})
	return answer
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(read(t, path), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
