package rehearsal_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// engine is a container engine that answers.
type engine struct {
	env  []string // by which docker and SAM find it
	host string   // this machine's address as containers see it
}

// startEngine gives the engine that runs here, or starts one for the time of the test. Where none can be started the test is
// skipped, and says why.
func startEngine(t *testing.T) engine {
	t.Helper()
	if _, err := exec.LookPath("docker"); err != nil {
		t.Skip("no container engine: there is no docker command")
	}
	e := engine{}
	if !e.answers() {
		e = hosted(t)
	}
	gateway := run(t, tidy(e.env...), "docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	e.host = strings.TrimSpace(string(gateway))
	l, err := net.Listen("tcp", net.JoinHostPort(e.host, "0"))
	if err != nil {
		t.Skipf("no way from a container to this machine: the engine's network has the gateway %q, which is not this machine: %v", e.host, err)
	}
	_ = l.Close()
	return e
}

func (e engine) answers() bool {
	cmd := exec.Command("docker", "info", "--format", "{{.ServerVersion}}")
	cmd.Env = tidy(e.env...)
	out, err := cmd.Output()
	return err == nil && len(bytes.TrimSpace(out)) > 0
}

// hosted starts an engine of the test's own: its data, its socket, gone with the test.
func hosted(t *testing.T) engine {
	t.Helper()
	dockerd, err := exec.LookPath("dockerd")
	if err != nil || os.Getuid() != 0 {
		t.Skip("no container engine: none answers, and to start one takes root and dockerd (on Debian: apt-get install docker.io)")
	}
	dir := t.TempDir()
	socket := "unix://" + filepath.Join(dir, "docker.sock")
	p, err := begin(exec.Command(dockerd, "--host", socket, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "--storage-driver", "vfs"))
	if err != nil {
		t.Skipf("no container engine: dockerd: %v", err)
	}
	t.Cleanup(func() { p.end(syscall.SIGTERM) })
	e := engine{env: []string{"DOCKER_HOST=" + socket}}
	if !p.comesUp(e.answers) {
		p.end(syscall.SIGTERM)
		t.Skipf("no container engine: dockerd does not come up; it said:\n%s", tail(p.said.String(), 20))
	}
	return e
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
