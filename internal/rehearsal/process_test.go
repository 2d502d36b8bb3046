package rehearsal_test

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// process is a program that runs beside a test, and ends with it.
type process struct {
	*exec.Cmd
	out, said bytes.Buffer  // to be read when it has ended
	ended     chan struct{} // closed
	failure   error
}

// begin starts a program in a process group of its own.
func begin(cmd *exec.Cmd) (*process, error) {
	p := &process{Cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.out, &p.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.failure = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// end signals the process, unless it has ended by itself, and waits for its end.
func (p *process) end(signal syscall.Signal) {
	_ = p.Process.Signal(signal)
	<-p.ended
}

// kill ends the process with all that it started.
func (p *process) kill() {
	_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// comesUp polls until up, for at most a minute and only while the process runs.
func (p *process) comesUp(up func() bool) bool {
	deadline, tick := time.After(time.Minute), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !up() {
		select {
		case <-p.ended:
			return false
		case <-deadline:
			return false
		case <-tick.C:
		}
	}
	return true
}

// eventually polls until ok, for at most a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if p := (&process{}); !p.comesUp(ok) { // the process that never ends
		t.Fatalf("waited in vain: %s", what)
	}
}
