package lambda

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// pool holds the processes of one function and the invocations that wait for one.
type pool struct {
	host     *Host
	function sam.Function

	mu        sync.Mutex
	current   binary // the newest build; processes of others end when they are free
	processes map[*process]bool
	idle      []*process // free, the last one freed at the end
	waiting   []*invocation
	stopped   bool
}

// submit gives inv to a free process, to a new one, or lets it wait for its turn.
func (p *pool) submit(inv *invocation, bin binary) {
	p.mu.Lock()
	p.current = bin
	stale := p.takeStale()
	p.waiting = append(p.waiting, inv)
	p.dispatch()
	p.mu.Unlock()
	for _, old := range stale {
		old.kill()
	}
}

// takeStale removes idle processes of an older build from the pool.
func (p *pool) takeStale() []*process {
	var stale []*process
	p.idle = slices.DeleteFunc(p.idle, func(proc *process) bool {
		if proc.binary.hash == p.current.hash {
			return false
		}
		proc.rest.Stop()
		delete(p.processes, proc)
		stale = append(stale, proc)
		return true
	})
	return stale
}

// dispatch hands out waiting invocations for as long as there is a process. The lock is held.
func (p *pool) dispatch() {
	for len(p.waiting) > 0 {
		switch {
		case p.stopped:
			p.waiting[0].finish(invoke.Result{}, fmt.Errorf("invoke %s: the local cloud is stopping", p.function.Name))
		case len(p.idle) > 0:
			last := len(p.idle) - 1
			proc := p.idle[last]
			p.idle = p.idle[:last]
			proc.rest.Stop()
			proc.give(p.waiting[0])
		case len(p.processes) < p.host.config.MaxProcesses:
			proc := newProcess(p, p.current)
			p.processes[proc] = true
			go proc.start(p.waiting[0])
		default:
			return
		}
		p.waiting = p.waiting[1:]
	}
}

// free is called when proc asks for work and has none.
func (p *pool) free(proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.processes[proc] {
		return // it is being ended
	}
	if proc.binary.hash != p.current.hash || p.stopped {
		delete(p.processes, proc)
		go proc.kill()
		p.dispatch()
		return
	}
	p.idle = append(p.idle, proc)
	proc.rest = time.AfterFunc(p.host.config.IdleAfter, func() { p.retire(proc) })
	p.dispatch()
}

// retire ends proc if it is still idle.
func (p *pool) retire(proc *process) {
	p.mu.Lock()
	at := slices.Index(p.idle, proc)
	if at >= 0 {
		p.idle = slices.Delete(p.idle, at, at+1)
		delete(p.processes, proc)
	}
	p.mu.Unlock()
	if at >= 0 {
		proc.kill()
	}
}

// gone is called when proc has exited.
func (p *pool) gone(proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = slices.DeleteFunc(p.idle, func(other *process) bool { return other == proc })
	delete(p.processes, proc)
	p.dispatch()
}

// again puts inv at the head of the line: the process that should have run it died before it had begun.
func (p *pool) again(inv *invocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.Insert(p.waiting, 0, inv)
	p.dispatch()
}

// abandon drops inv if no process has it yet.
func (p *pool) abandon(inv *invocation) {
	p.mu.Lock()
	at := slices.Index(p.waiting, inv)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	if at >= 0 {
		inv.finish(invoke.Result{}, fmt.Errorf("invoke %s: the caller left while all processes were busy", p.function.Name))
	}
}

// kill ends every process now; those that run something fail it.
func (p *pool) kill() int {
	p.mu.Lock()
	var all []*process
	for proc := range p.processes {
		all = append(all, proc)
	}
	p.mu.Unlock()
	for _, proc := range all {
		proc.kill()
	}
	for _, proc := range all {
		<-proc.exited
	}
	return len(all)
}

// stop ends the pool for good.
func (p *pool) stop() {
	p.mu.Lock()
	p.stopped = true
	p.dispatch()
	p.mu.Unlock()
	p.kill()
}
