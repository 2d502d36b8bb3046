package lambda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/journal"
	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// item is one asynchronous invocation. It keeps its id over all tries, as on Lambda.
type item struct {
	ID       string    `json:"id"`
	Function string    `json:"function"`
	Trigger  string    `json:"trigger"`
	Payload  []byte    `json:"payload"`
	Enqueued time.Time `json:"enqueued"`
	Tries    int       `json:"tries,omitempty"` // that ended in an error of the function
}

// maxBlocked is the longest pause before something that could not be run is looked at again. Somebody may be mending its code.
const maxBlocked = 4 * time.Second

// queue delivers asynchronous invocations: each at least once, again after a failure, and to the failure destination in
// the end. An item leaves the journal only after that.
type queue struct {
	host    *Host
	journal *journal.Journal // nil: in memory

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	mu     sync.Mutex
	items  map[string]item
	begun  bool
}

func openQueue(h *Host, folder string) (*queue, error) {
	q := &queue{host: h, items: map[string]item{}}
	q.ctx, q.cancel = context.WithCancel(h.ctx)
	if folder == "" {
		return q, nil
	}
	var err error
	if q.journal, err = journal.Open(folder, "lambda", q.replay); err != nil {
		return nil, fmt.Errorf("open the queue of invocations: %w", err)
	}
	return q, nil
}

// start delivers what was kept, oldest first, and from now on everything at once.
func (q *queue) start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.begun {
		return
	}
	q.begun = true
	kept := slices.SortedFunc(maps.Values(q.items), func(a, b item) int { return a.Enqueued.Compare(b.Enqueued) })
	for _, it := range kept {
		q.group.Go(func() { q.deliver(it) })
	}
}

// add returns when it is safe.
func (q *queue) add(it item) error {
	if err := q.journal.Wait(q.put(it)); err != nil {
		return fmt.Errorf("enqueue %s: %w", it.Function, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.begun && q.ctx.Err() == nil {
		q.group.Go(func() { q.deliver(it) })
	}
	return nil
}

// put sets an item, new or changed, and gives the journal's position to wait for.
func (q *queue) put(it item) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items[it.ID] = it
	return q.append(entry{Put: &it})
}

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// stop begins no new try. What is under way goes on.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancel()
}

// close waits for deliveries to end and closes the journal.
func (q *queue) close() error {
	q.group.Wait()
	return q.journal.Close()
}

// deliver tries until the function succeeds, gave up or the host stops.
func (q *queue) deliver(it item) {
	p, ok := q.host.pools[it.Function]
	if !ok {
		q.host.config.Log.Error("dropped", "function", it.Function, "outcome", "kept from before, but the template has no such function now")
		q.done(it)
		return
	}
	config := p.function.Async
	for blocked := 0; q.ctx.Err() == nil; {
		if config.MaxAge > 0 && time.Since(it.Enqueued) > config.MaxAge {
			q.giveUp(it, config, "EventAgeExceeded", invoke.Result{})
			return
		}
		r, err := q.host.invoke(context.WithoutCancel(q.ctx), it.ID, it.Function, it.Trigger, it.Payload)
		switch {
		case err != nil: // it never ran, which does not count as a try
			if blocked++; blocked == 1 && q.ctx.Err() == nil {
				why, _, _ := strings.Cut(err.Error(), "\n")
				q.host.config.Log.Warn("waits", "function", it.Function, "trigger", it.Trigger, "outcome", why)
			}
			q.pause(min(backoff(blocked), maxBlocked))
		case q.cut(r):
			return
		case r.FunctionError == "":
			q.done(it)
			return
		default:
			it.Tries++
			if it.Tries > config.MaxRetries {
				q.giveUp(it, config, "RetriesExhausted", r)
				return
			}
			q.again(it)
		}
	}
}

// cut says that the host, as it stopped, ended the process: that is no failure of the function.
func (q *queue) cut(r invoke.Result) bool {
	return r.FunctionError == "Runtime.ExitError" && q.host.ctx.Err() != nil
}

func (q *queue) again(it item) {
	delays := q.host.config.RetryDelays
	delay := delays[min(it.Tries, len(delays))-1]
	q.host.config.Log.Warn("retrying", "function", it.Function, "trigger", it.Trigger, "try", it.Tries+1, "in", delay.String())
	q.put(it) // not waited for: what a crash can take is the count of tries
	q.pause(delay)
}

// backoff is 1 s, doubled with each try up to 30 s.
func backoff(tries int) time.Duration { return min(time.Second<<min(tries-1, 5), 30*time.Second) }

func (q *queue) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-q.ctx.Done():
	}
}

// giveUp hands it to the failure destination, until that has taken it.
func (q *queue) giveUp(it item, config sam.AsyncConfig, condition string, r invoke.Result) {
	log := q.host.config.Log
	log.Error("gave up", "function", it.Function, "trigger", it.Trigger, "condition", condition, "tries", it.Tries, "queue", config.OnFailure)
	for tries := 1; config.OnFailure != "" && q.ctx.Err() == nil; tries++ {
		err := q.sendFailure(it, config.OnFailure, condition, r)
		if err == nil {
			break
		}
		log.Error("could not reach the failure destination", "function", it.Function, "queue", config.OnFailure, "outcome", err.Error())
		q.pause(backoff(tries))
	}
	if q.ctx.Err() == nil || config.OnFailure == "" {
		q.done(it)
	}
}

func (q *queue) sendFailure(it item, to, condition string, r invoke.Result) error {
	if q.host.config.DeadLetter == nil {
		return errors.New("the host has none")
	}
	c := q.host.config
	return c.DeadLetter(to, failureRecord(it, functionARN(c.Region, c.Account, it.Function), condition, r, time.Now()))
}

// done forgets an item. A crash may take that back: then it runs once more.
func (q *queue) done(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.items, it.ID)
	q.append(entry{Done: it.ID})
}
