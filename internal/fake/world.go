package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Errors to inject with World.FailAt and World.FailNext. Each fake turns them into what its service would say.
var (
	ErrThrottled = errors.New("throttled")                                 // the service asks to wait; nothing happened
	ErrConflict  = errors.New("conflict with another transaction")         // table only; nothing happened
	ErrLost      = errors.New("timed out: the answer of the call is lost") // the caller cannot know what happened
)

// Mode is a way to disturb a call.
type Mode string

// The modes.
const (
	KillBefore Mode = "kill before" // the worker dies, the call has no effect
	KillAfter  Mode = "kill after"  // the call takes effect, then the worker dies
	LoseAnswer Mode = "lose answer" // the call takes effect, the worker lives and gets ErrLost
	Fail       Mode = "fail"        // the call has no effect, the worker lives and gets Err
)

// Disturbance says which call to disturb, once, and how. Fields that are zero match every call. KillBefore and KillAfter need calls
// made with a context of WithWorker.
type Disturbance struct {
	At     int    // the number of the call, from 1 over all workers
	Name   string // the beginning of its name: "dynamo.", "bus.PutEvents"
	Worker string
	Mode   Mode
	Err    error // for Fail; nil means ErrThrottled
	Times  int   // how many calls; 0 means one
}

// Call is one call that left the process.
type Call struct {
	N      int // from 1
	Worker string
	Name   string // "dynamo.TransactWriteItems", "bus.PutEvents", "scheduler.CreateSchedule", "conn.PostToConnection", "model.Stream"
	Note   string // what it is about: keys, detail types, a connection
	Err    error  // what the caller got
}

// String is the call in one line.
func (c Call) String() string {
	text := fmt.Sprintf("%d %s %s", c.N, c.Name, c.Note)
	if c.Worker != "" {
		text = c.Worker + ": " + text
	}
	if c.Err != nil {
		text += " -> " + c.Err.Error()
	}
	return text
}

// World counts the calls of all fakes that share it and disturbs them as told. The zero value only counts. A nil *World
// in a fake does nothing at all.
type World struct {
	mu      sync.Mutex
	calls   []Call
	plan    []Disturbance
	hits    int
	effects int
	gate    *gate
}

// Disturb adds a disturbance.
func (w *World) Disturb(d Disturbance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d.Times = max(d.Times, 1)
	w.plan = append(w.plan, d)
}

// Calm forgets the disturbances that have not struck.
func (w *World) Calm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan = nil
}

// KillBefore kills the worker that makes call k, before the call has an effect.
func (w *World) KillBefore(k int) { w.Disturb(Disturbance{At: k, Mode: KillBefore}) }

// KillAfter kills the worker that makes call k, after the call took effect.
func (w *World) KillAfter(k int) { w.Disturb(Disturbance{At: k, Mode: KillAfter}) }

// LoseAnswer lets call k take effect and its caller time out.
func (w *World) LoseAnswer(k int) { w.Disturb(Disturbance{At: k, Mode: LoseAnswer}) }

// FailAt makes call k fail with err (nil: ErrThrottled), without effect.
func (w *World) FailAt(k int, err error) { w.Disturb(Disturbance{At: k, Mode: Fail, Err: err}) }

// FailNext makes the next call whose name begins with name fail with err (nil: ErrThrottled), without effect.
func (w *World) FailNext(name string, err error) {
	w.Disturb(Disturbance{Name: name, Mode: Fail, Err: err})
}

// Calls gives every call made so far.
func (w *World) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// Count is the number of calls whose name begins with name, all for "".
func (w *World) Count(name string) int {
	n := 0
	for _, c := range w.Calls() {
		if strings.HasPrefix(c.Name, name) {
			n++
		}
	}
	return n
}

// Effects is the number of calls so far that changed something outside.
func (w *World) Effects() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.effects
}

// Disturbed is the number of calls that were disturbed so far.
func (w *World) Disturbed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits
}

// passage is one call on its way through the world.
type passage struct {
	world  *World
	worker *worker
	n      int
	name   string
	mode   Mode
	err    error
}

// enter numbers a call and says how it is disturbed. An error means that the call must not happen.
func (w *World) enter(ctx context.Context, name, note string) (passage, error) {
	p := passage{world: w, worker: workerOf(ctx), name: name}
	if err := alive(ctx, name); err != nil || w == nil {
		return p, err
	}
	if err := w.wait(ctx, name, note); err != nil {
		return p, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.n = len(w.calls) + 1
	w.calls = append(w.calls, Call{N: p.n, Worker: WorkerName(ctx), Name: name, Note: note})
	w.disturb(&p)
	return p, w.before(&p)
}

// wait asks the gate, if there is one, for leave to make the call.
func (w *World) wait(ctx context.Context, name, note string) error {
	w.mu.Lock()
	g := w.gate
	w.mu.Unlock()
	if g == nil || workerOf(ctx) == nil {
		return nil
	}
	g.wait(workerOf(ctx), name, note)
	return alive(ctx, name)
}

func (w *World) disturb(p *passage) {
	for i := range w.plan {
		d := &w.plan[i]
		if d.Times == 0 || d.At != 0 && d.At != p.n || !strings.HasPrefix(p.name, d.Name) || d.Worker != "" && (p.worker == nil || p.worker.name != d.Worker) {
			continue
		}
		d.Times--
		w.hits++
		p.mode, p.err = d.Mode, d.Err
		return
	}
}

func (w *World) before(p *passage) error {
	switch p.mode {
	case KillBefore:
		return p.die()
	case Fail:
		if p.err == nil {
			p.err = ErrThrottled
		}
		return w.note(p, p.err)
	}
	return nil
}

func (p *passage) die() error {
	if p.worker == nil {
		panic("fake: " + p.name + " is to kill a worker, but its context is not one of WithWorker")
	}
	p.worker.kill()
	return p.world.note(p, fmt.Errorf("%s: %w", p.name, ErrKilled))
}

// note keeps the error of the call for the record. The caller holds the lock.
func (w *World) note(p *passage, err error) error {
	w.calls[p.n-1].Err = err
	return err
}

// leave says what becomes of a call whose outcome was err.
func (p *passage) leave(err error) error {
	w := p.world
	if w == nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && !reads(p.name) {
		w.effects++
	}
	switch {
	case p.mode == KillAfter || p.worker.isDead():
		return p.die()
	case p.mode == LoseAnswer:
		err = ErrLost
	}
	return w.note(p, err)
}

// reads reports whether a call changes nothing.
func reads(name string) bool {
	switch name {
	case "dynamo.GetItem", "dynamo.Query", "dynamo.BatchGetItem", "dynamo.TransactGetItems", "dynamo.DescribeTable",
		"scheduler.GetSchedule", "scheduler.ListSchedules", "conn.GetConnection", "model.Stream":
		return true
	}
	return false
}

// through makes a call: effect happens unless the world prevents it, and its answer arrives unless the world loses it.
func through[T any](ctx context.Context, w *World, name, note string, effect func() (T, error)) (T, error) {
	var none T
	p, err := w.enter(ctx, name, note)
	if err != nil {
		return none, err
	}
	out, err := effect()
	if after := p.leave(err); after != nil {
		return none, after
	}
	return out, nil
}
