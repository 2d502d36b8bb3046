package fake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stuckAfter is how long workers may do nothing, in the time of the bubble, before an order counts as stuck; maxSteps is how
// many calls an order may have.
const (
	stuckAfter = 24 * time.Hour
	maxSteps   = 10_000
)

// begin is the step a worker begins with, so that never two of them run at once.
const begin = "begin"

// kindOf is what an option does.
type kindOf int

const (
	letGo  kindOf = iota // let a waiting call go
	killIt               // kill the worker of a waiting call
	wait                 // let time pass
)

// option is one thing that may happen next.
type option struct {
	kind   kindOf
	worker int // position in Workers
	call   *waiting
	cost   int // preemptions
}

// orderOutcome is what became of one order.
type orderOutcome struct {
	end, problem string
	trace        []string
}

// meeting is the state of one order while it runs.
type meeting struct {
	Steps
	*Meeting
	gate     *gate
	choose   func([]option, int) int
	budget   int // preemptions left
	last     int // the worker that went last, -1 for none
	depth    int // choices made
	killed   bool
	waited   bool
	finished chan int
	contexts []context.Context
	trace    []string
}

// run lets the workers of a fresh meeting go in the order that choose decides.
func (s Steps) run(t *testing.T, choose func(options []option, depth int) int, budget int) (o orderOutcome) {
	synctest.Test(t, func(t *testing.T) {
		m := &meeting{Steps: s, Meeting: s.New(), gate: newGate(), choose: choose, budget: budget, last: -1}
		m.World.setGate(m.gate)
		err := m.meet(t.Context())
		m.World.setGate(nil)
		m.gate.lift()
		for _, ctx := range m.contexts {
			Kill(ctx)
		}
		if err == nil && m.Recover != nil {
			_, err = settle(t.Context(), m.World, m.Recover, Flow{Rounds: s.Rounds}.rounds())
		}
		o.trace = m.trace
		if err != nil {
			o.problem = err.Error()
			return
		}
		o.end, o.problem = finish(m.End, m.Check)
	})
	return o
}

func (w *World) setGate(g *gate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate = g
}

// meet starts all workers and schedules their calls until all have returned.
func (m *meeting) meet(ctx context.Context) error {
	m.finished = make(chan int, len(m.Workers))
	for i, do := range m.Workers {
		ctx := WithWorker(ctx, workerLabel(i))
		m.contexts = append(m.contexts, ctx)
		go func() {
			defer func() {
				if p := recover(); p != nil {
					m.gate.fail(fmt.Errorf("%s: panic: %v", workerLabel(i), p))
				}
				m.finished <- i
			}()
			m.gate.wait(workerOf(ctx), begin, "")
			_ = do(ctx)
		}()
	}
	for left := len(m.Workers); left > 0; {
		if m.depth > maxSteps {
			return fmt.Errorf("no end after %d calls", maxSteps)
		}
		synctest.Wait()
		if options := m.options(); len(options) > 0 {
			m.step(options)
			continue
		}
		select {
		case <-m.gate.arrived:
		case <-m.finished:
			left--
		case <-time.After(stuckAfter):
			return fmt.Errorf("the workers are stuck")
		}
	}
	return m.gate.failure()
}

func workerLabel(i int) string { return fmt.Sprintf("w%d", i+1) }

// options gives what may happen next: first to go on with the worker that went last, then all else the budget allows.
func (m *meeting) options() []option {
	var out []option
	for _, call := range m.gate.waits() {
		out = append(out, option{kind: letGo, worker: m.position(call), call: call})
	}
	if len(out) == 0 {
		return nil
	}
	slices.SortStableFunc(out, func(a, b option) int {
		if a.worker != b.worker {
			return a.worker - b.worker
		}
		return strings.Compare(a.call.name+a.call.note, b.call.name+b.call.note)
	})
	couldGoOn := slices.ContainsFunc(out, func(o option) bool { return o.worker == m.last })
	for i := range out {
		if couldGoOn && out[i].worker != m.last {
			out[i].cost = 1
		}
	}
	slices.SortStableFunc(out, func(a, b option) int { return a.cost - b.cost })
	out = append(out, m.disasters(out)...)
	return slices.DeleteFunc(out, func(o option) bool { return o.cost > m.budget })
}

// disasters gives the deaths and delays that may come instead of a call.
func (m *meeting) disasters(calls []option) []option {
	var out []option
	if m.Kill && !m.killed {
		for _, c := range calls {
			if c.call.name == begin {
				continue
			}
			out = append(out, option{kind: killIt, worker: c.worker, call: c.call, cost: 1})
		}
	}
	if m.Slow > 0 && !m.waited {
		out = append(out, option{kind: wait, worker: m.last, cost: 1})
	}
	return out
}

// position finds the worker of the meeting that makes the call, itself or by a worker within it.
func (m *meeting) position(call *waiting) int {
	outermost := call.worker
	for outermost.within != nil {
		outermost = outermost.within
	}
	return slices.IndexFunc(m.contexts, func(ctx context.Context) bool { return workerOf(ctx) == outermost })
}

// said describes an option's call for the trace.
func (o option) said(fate string) string {
	label := workerLabel(o.worker)
	if o.call.worker.within != nil {
		label += " " + o.call.worker.name
	}
	return strings.TrimSpace(label + ": " + fate + o.call.name + " " + o.call.note)
}

func (m *meeting) step(options []option) {
	o := options[m.choose(options, m.depth)]
	m.depth++
	m.budget -= o.cost
	switch o.kind {
	case letGo:
		m.last = o.worker
		m.trace = append(m.trace, o.said(""))
		m.gate.let(o.call)
	case killIt:
		m.killed = true
		m.trace = append(m.trace, o.said("killed before "))
		o.call.worker.kill()
		m.gate.let(o.call)
	case wait:
		m.waited = true
		m.trace = append(m.trace, fmt.Sprintf("%v pass", m.Slow))
		time.Sleep(m.Slow)
	}
}
