package lambda

import (
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
)

// process is one execution environment: a running binary that takes one invocation after another.
type process struct {
	pool   *pool
	token  string // its own path on the Runtime API, which no other process knows
	binary binary
	lines  *lines
	rest   *time.Timer // ends it when idle for long; set while idle, under the pool's lock

	work   chan *invocation // handed over and not yet taken; room for one
	exited chan struct{}

	mu        sync.Mutex
	cmd       *exec.Cmd
	killed    bool
	ready     bool        // it has asked for work once: its start-up went well
	now       *invocation // what it runs
	initError []byte      // what it reported instead of starting
	status    string      // how it ended
}

func newProcess(p *pool, bin binary) *process {
	return &process{
		pool: p, token: uuid.NewString(), binary: bin, lines: p.host.output.of(p.function.Name),
		work: make(chan *invocation, 1), exited: make(chan struct{}),
	}
}

// start runs the binary with inv as its first work.
func (p *process) start(inv *invocation) {
	host := p.pool.host
	host.runtime.add(p)
	cmd := exec.Command(p.binary.path)
	cmd.Env = host.environment(p.pool.function, p.token)
	cmd.Dir = host.scratch
	cmd.Stdout, cmd.Stderr = p.lines, p.lines
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = time.Second // for a grandchild that keeps the output open
	if err := p.launch(cmd); err != nil {
		host.runtime.remove(p)
		p.status = err.Error()
		close(p.exited)
		p.pool.gone(p)
		inv.finish(invoke.Result{}, fmt.Errorf("invoke %s: start the process: %w", p.pool.function.Name, err))
		return
	}
	go p.wait(cmd)
	p.give(inv)
}

func (p *process) launch(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return fmt.Errorf("it was killed before it started")
	}
	p.cmd = cmd
	return p.pool.host.spawner.start(cmd)
}

func (p *process) wait(cmd *exec.Cmd) {
	err := cmd.Wait()
	p.lines.flush()
	p.mu.Lock()
	p.cmd, p.status = nil, "exit status 0"
	if err != nil {
		p.status = err.Error()
	}
	p.mu.Unlock()
	p.pool.host.runtime.remove(p)
	close(p.exited)
	p.pool.gone(p)
}

// kill ends the process and everything it started.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.cmd != nil && p.cmd.Process != nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // ESRCH: it has just ended by itself
	}
}

// give hands inv over and watches over it until it is finished.
func (p *process) give(inv *invocation) {
	p.work <- inv
	go p.watch(inv)
}

func (p *process) watch(inv *invocation) {
	limit := time.NewTimer(p.pool.host.config.InitTimeout)
	defer limit.Stop()
	select {
	case <-inv.taken:
		p.watchRun(inv)
	case <-p.exited:
		p.diedBefore(inv)
	case <-limit.C:
		p.kill()
		<-p.exited
		p.fail(inv, inv.failed("Sandbox.Timedout", "Init did not end within %v", p.pool.host.config.InitTimeout))
	}
}

func (p *process) watchRun(inv *invocation) {
	limit := time.NewTimer(inv.function.Timeout)
	defer limit.Stop()
	select {
	case r := <-inv.answer:
		p.settle(inv, limit)
		p.end(inv, r)
	case <-p.exited:
		select {
		case r := <-inv.answer: // it answered, then died
			p.end(inv, r)
		default:
			p.fail(inv, inv.failed("Runtime.ExitError", "Runtime exited with error: %s", p.status))
		}
	case <-limit.C:
		p.kill()
		<-p.exited
		p.fail(inv, inv.failed("Sandbox.Timedout", "Task timed out after %.2f seconds", inv.function.Timeout.Seconds()))
	}
}

// settle waits until the process that has answered asks for work again, as Lambda does: only then is it free for the
// caller's next invocation.
func (p *process) settle(inv *invocation, limit *time.Timer) {
	select {
	case <-inv.settled:
	case <-p.exited:
	case <-limit.C:
		p.kill()
	}
}

// diedBefore handles a process that ended with inv still in its hands: a new process may do better, unless this one
// never came up.
func (p *process) diedBefore(inv *invocation) {
	select {
	case <-p.work: // taken back: nobody else can have it now
	default:
		<-inv.taken // at the last moment
		p.watchRun(inv)
		return
	}
	p.mu.Lock()
	ready, report := p.ready, p.initError
	p.mu.Unlock()
	switch {
	case ready:
		p.pool.again(inv)
	case report != nil:
		p.fail(inv, invoke.Result{Payload: report, FunctionError: "Unhandled"})
	default:
		p.fail(inv, inv.failed("Runtime.ExitError", "Runtime exited during start: %s", p.status))
	}
}

func (p *process) end(inv *invocation, r invoke.Result) {
	if r.FunctionError != "" {
		p.fail(inv, r)
		return
	}
	inv.finish(r, nil)
}

// fail finishes inv and shows what the function printed.
func (p *process) fail(inv *invocation, r invoke.Result) {
	p.lines.show()
	inv.finish(r, nil)
}
