// Package lambda is the local cloud's Lambda: it builds the project's functions, runs their real binaries against its
// own Runtime API server, one invocation at a time per process, kills them at their timeout, and keeps a queue of
// asynchronous invocations with Lambda's retries and failure destinations.
//
// It never looks into a payload, and knows neither routes nor rules: who calls it, and why, is the caller's.
package lambda

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// Lambda's limits on payloads, in bytes.
const (
	MaxSync  = 6_291_556 // request and answer of a synchronous invocation
	MaxAsync = 1_048_576 // an asynchronous request
)

// Config says what a Host runs. Functions, Dir and Endpoint are required.
type Config struct {
	Functions []sam.Function
	Dir       string // project root: the folder of go.mod, from which Function.Dir counts
	Cache     string // where binaries are kept; default: a folder of the user's cache for this Dir
	Data      string // where the asynchronous queue is kept; empty: in memory
	Region    string // default us-east-1
	Account   string // default 000000000000
	Endpoint  string // AWS_ENDPOINT_URL of every function

	Env          map[string]map[string]string          // function -> variables laid over those of the template
	MaxProcesses int                                   // per function, default 10; more invocations wait
	IdleAfter    time.Duration                         // an idle process is stopped, default 5 min
	InitTimeout  time.Duration                         // from start to its first question for work, default 30 s
	RetryDelays  []time.Duration                       // before the first and second retry of an asynchronous invocation, default 1 s and 2 s
	DeadLetter   func(queue string, body []byte) error // takes finally failed asynchronous invocations; queue is an ARN

	Log      *slog.Logger // one line per invocation and build; nil: none
	Output   io.Writer    // what functions print; nil: nowhere
	Verbose  bool         // all that functions print; otherwise only when an invocation failed
	Progress func(Build)  // beginning and end of each build; nil: to Log
}

func (c Config) withDefaults() Config {
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.Account == "" {
		c.Account = "000000000000"
	}
	if c.MaxProcesses <= 0 {
		c.MaxProcesses = 10
	}
	if c.IdleAfter <= 0 {
		c.IdleAfter = 5 * time.Minute
	}
	if c.InitTimeout <= 0 {
		c.InitTimeout = 30 * time.Second
	}
	if len(c.RetryDelays) == 0 {
		c.RetryDelays = []time.Duration{time.Second, 2 * time.Second}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Output == nil {
		c.Output = io.Discard
	}
	return c
}

// Host runs functions. It is an invoke.Invoker and safe for concurrent use. Make one with Open.
type Host struct {
	config  Config
	builder *builder
	spawner *spawner
	runtime *runtimeServer
	pools   map[string]*pool
	queue   *queue
	output  *output
	scratch string // HOME and TMPDIR of the functions

	ctx      context.Context // over when the host stops
	cancel   context.CancelFunc
	mu       sync.Mutex
	stopping bool
	stopped  sync.Once
	running  sync.WaitGroup
}

var _ invoke.Invoker = (*Host)(nil)

// Open makes a host and its Runtime API server. Nothing is built or run before the first invocation, and kept
// asynchronous invocations wait for Start.
func Open(c Config) (*Host, error) {
	c = c.withDefaults()
	h := &Host{config: c, pools: map[string]*pool{}, output: &output{to: c.Output, verbose: c.Verbose}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	var err error
	if h.builder, err = newBuilder(h.ctx, c); err != nil {
		return nil, err
	}
	if h.queue, err = openQueue(h, c.Data); err != nil {
		return nil, err
	}
	if h.runtime, err = startRuntime(); err != nil {
		return nil, errors.Join(err, h.queue.close())
	}
	if h.scratch, err = newScratch(); err != nil {
		h.runtime.stop()
		return nil, errors.Join(err, h.queue.close())
	}
	h.spawner = newSpawner()
	for _, f := range c.Functions {
		h.pools[f.Name] = &pool{host: h, function: f, processes: map[*process]bool{}}
	}
	return h, nil
}

// Start begins to deliver the asynchronous invocations that an earlier run left behind.
func (h *Host) Start() { h.queue.start() }

// Build builds the named functions, all of them when none is named, in one go. It is not needed: the first invocation
// builds too. Safe to call while functions run.
func (h *Host) Build(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		for _, f := range h.config.Functions {
			names = append(names, f.Name)
		}
	}
	return h.builder.buildAll(ctx, names)
}

// Prepare builds function if that is needed. Invoke does so too; whoever limits the time that a function may take calls
// Prepare first, so that a build is not counted.
func (h *Host) Prepare(ctx context.Context, function string) error {
	if _, ok := h.pools[function]; !ok {
		return fmt.Errorf("prepare %s: the template has no such function", function)
	}
	_, err := h.builder.binary(ctx, function)
	return err
}

// Invoke runs function and waits for its answer. When ctx is over the function runs on, as it does on Lambda, and its
// answer is dropped; an invocation that no process has yet is not begun.
func (h *Host) Invoke(ctx context.Context, function, trigger string, payload []byte) (invoke.Result, error) {
	if len(payload) > MaxSync {
		return invoke.Result{}, fmt.Errorf("invoke %s: payload of %d bytes is over %d", function, len(payload), MaxSync)
	}
	return h.invoke(ctx, uuid.NewString(), function, trigger, payload)
}

// Broken tells which functions do not build, with the compiler's words. What is enqueued for them waits until they do.
func (h *Host) Broken() map[string]error { return h.builder.broken() }

// Building tells which functions are being built, in order.
func (h *Host) Building() []string { return h.builder.building() }

func (h *Host) invoke(ctx context.Context, id, function, trigger string, payload []byte) (invoke.Result, error) {
	p, ok := h.pools[function]
	if !ok {
		return invoke.Result{}, fmt.Errorf("invoke %s: the template has no such function", function)
	}
	if err := h.enter(); err != nil {
		return invoke.Result{}, fmt.Errorf("invoke %s: %w", function, err)
	}
	bin, err := h.builder.binary(ctx, function)
	if err != nil {
		h.running.Done()
		return invoke.Result{}, fmt.Errorf("invoke %s: %w", function, err)
	}
	inv := newInvocation(id, p.function, trigger, payload)
	inv.finished = func() { h.report(inv); h.running.Done() }
	return h.await(ctx, p, inv, bin)
}

// await hands inv out and waits for its end, or for that of ctx.
func (h *Host) await(ctx context.Context, p *pool, inv *invocation, bin binary) (invoke.Result, error) {
	p.submit(inv, bin)
	select {
	case <-inv.done:
	case <-ctx.Done():
		p.abandon(inv)
		return invoke.Result{}, fmt.Errorf("invoke %s: %w", inv.function.Name, ctx.Err())
	}
	return inv.result, inv.err
}

// Enqueue keeps payload for an asynchronous run and returns once it is safe: on disk when the host has a data folder.
func (h *Host) Enqueue(ctx context.Context, function, trigger string, payload []byte) error {
	if _, ok := h.pools[function]; !ok {
		return fmt.Errorf("enqueue %s: the template has no such function", function)
	}
	if len(payload) > MaxAsync {
		return fmt.Errorf("enqueue %s: payload of %d bytes is over %d", function, len(payload), MaxAsync)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("enqueue %s: %w", function, err)
	}
	return h.queue.add(item{ID: uuid.NewString(), Function: function, Trigger: trigger, Payload: payload, Enqueued: time.Now()})
}

// Pending tells how many asynchronous invocations are not finished.
func (h *Host) Pending() int { return h.queue.size() }

// Kill ends every process of function at once, as kill -9 does, and tells how many there were. Their invocations end
// with Runtime.ExitError; asynchronous ones are tried again.
func (h *Host) Kill(function string) (int, error) {
	p, ok := h.pools[function]
	if !ok {
		return 0, fmt.Errorf("kill %s: the template has no such function", function)
	}
	return p.kill(), nil
}

// Drain refuses new invocations, begins no more asynchronous ones, and waits for what runs until ctx is over. Enqueue
// still keeps what it gets. May be called twice.
func (h *Host) Drain(ctx context.Context) error {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	h.queue.stop()
	return waitFor(ctx, &h.running)
}

// Stop drains the host until ctx is over, then ends all processes. Unfinished asynchronous invocations stay in the data
// folder. May be called twice.
func (h *Host) Stop(ctx context.Context) error {
	err := h.Drain(ctx)
	h.stopped.Do(func() {
		h.cancel()
		for _, p := range h.pools {
			p.stop()
		}
		err = errors.Join(err, h.queue.close())
		h.spawner.stop()
		h.runtime.stop()
		removeScratch(h.scratch)
	})
	return err
}

func (h *Host) enter() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping {
		return fmt.Errorf("the local cloud is stopping")
	}
	h.running.Add(1)
	return nil
}

func waitFor(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop functions: some still ran: %w", ctx.Err())
	}
}
