// Package bus is the local EventBridge: a strict PutEvents (X-Amz-Target AWSEvents.PutEvents), the template's rules, and
// at-least-once delivery to their functions with retries and dead letters.
//
// An event that was accepted for a rule is kept, on disk when there is a data folder, until the function's queue or the
// rule's dead letters have it: it survives kill -9 between any two steps, and may then arrive twice. Events are
// unordered. The package does not run functions; it hands payloads over.
package bus

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus/pattern"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/journal"
	"github.com/steadfast-agents/steadfast/internal/cloud/queue/awsjson"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// Target is the prefix of the X-Amz-Target header that belongs to this service.
const Target = "AWSEvents."

// Config says what is on the bus, where events go and where undelivered ones are kept.
type Config struct {
	Stack *sam.Stack // Buses, Rules, Functions, Region and Account are read
	// Invoker takes an event over for a function; after it returns nil the event is no longer the bus's care.
	Invoker interface {
		Enqueue(ctx context.Context, function, trigger string, payload []byte) error
	}
	// DeadLetter takes an event that no retry could deliver; nil: such events are logged and dropped.
	DeadLetter func(queueARN string, body []byte, attributes map[string]string) error
	Data       string           // folder of the journal, made if missing; empty: in memory
	Log        *slog.Logger     // nil: discarded
	Now        func() time.Time // default time.Now
	// Backoff is the wait before a retry (1 for the first), default 1 s doubling up to 1 minute.
	Backoff func(retry int) time.Duration

	// Duplicate, when set, is how many more times each rule gets the event (tests of at-least-once).
	Duplicate func(Event) int
	// Hold, when set, names events that no rule gets: they are accepted, and that is all.
	Hold func(Event) bool
	// FailPut, when set, may refuse an entry with an error code such as InternalFailure; an empty code accepts it.
	FailPut func(Event) (code, message string)
}

// Bus is an http.Handler, safe for concurrent use.
type Bus struct {
	cfg     Config
	rules   []rule
	journal *journal.Journal
	ctx     context.Context
	cancel  context.CancelFunc
	ended   sync.WaitGroup

	mu        sync.Mutex
	pending   map[string]*delivery // by delivery id
	settled   sync.Cond            // a delivery ended
	listeners map[int]func(Event)
	next      int // listener number
}

type rule struct {
	sam.Rule
	pattern pattern.Pattern
}

// Open compiles the rules, replays the journal and takes up deliveries that were under way.
func Open(cfg Config) (*Bus, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Backoff == nil {
		cfg.Backoff = func(retry int) time.Duration { return min(time.Second<<min(retry-1, 6), time.Minute) }
	}
	b := &Bus{cfg: cfg, pending: map[string]*delivery{}, listeners: map[int]func(Event){}}
	b.settled.L = &b.mu
	for _, r := range cfg.Stack.Rules {
		p, err := pattern.Compile(r.Pattern)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.Name, err)
		}
		b.rules = append(b.rules, rule{r, p})
	}
	if cfg.Data != "" {
		j, err := journal.Open(cfg.Data, "events", b.replay)
		if err != nil {
			return nil, fmt.Errorf("open bus: %w", err)
		}
		b.journal = j
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	for _, d := range slices.Collect(maps.Values(b.pending)) { // a copy: deliveries leave the map as they end
		b.ended.Go(func() { b.deliver(*d) })
	}
	return b, nil
}

// Close stops delivering. What is undelivered stays on disk.
func (b *Bus) Close() error {
	b.cancel()
	b.ended.Wait()
	return b.journal.Close()
}

// Subscribe calls listen with every event the bus accepts, until cancel. It is called in the order of acceptance, by one
// caller at a time, before PutEvents answers: it must be quick and must not put events itself.
func (b *Bus) Subscribe(listen func(Event)) (cancel func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	id := b.next
	b.listeners[id] = listen
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, id)
	}
}

// Pending is how many deliveries are under way or waiting for a retry.
func (b *Bus) Pending() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending)
}

// Drain waits until no delivery is under way, or for ctx.
func (b *Bus) Drain(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.settled.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.pending) > 0 && ctx.Err() == nil {
		b.settled.Wait()
	}
	if n := len(b.pending); n > 0 {
		return fmt.Errorf("%d events are undelivered: %w", n, ctx.Err())
	}
	return nil
}

// ServeHTTP answers PutEvents.
func (b *Bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := awsjson.Protocol{ContentType: "application/x-amz-json-1.1", MaxBody: 16 << 20}
	p.Serve(w, r, map[string]awsjson.Operation{"PutEvents": b.putEvents})
}

// accept makes the events safe and starts their deliveries. It returns once nothing of them can be lost.
func (b *Bus) accept(events []Event) error {
	if len(events) == 0 {
		return nil
	}
	var all []delivery
	for _, e := range events {
		all = append(all, b.match(e)...)
	}
	b.mu.Lock()
	position := b.journal.Position()
	if len(all) > 0 {
		for i := range all {
			b.pending[all[i].ID] = &all[i]
		}
		position = b.append(record{Put: all})
	}
	b.mu.Unlock()
	if err := b.journal.Wait(position); err != nil {
		return fmt.Errorf("keep %d deliveries: %w", len(all), err)
	}
	b.tell(events)
	for _, d := range all {
		b.ended.Go(func() { b.deliver(d) })
	}
	return nil
}

func (b *Bus) tell(events []Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		for _, listen := range b.listeners {
			listen(e)
		}
	}
}

// match is one delivery for each rule that wants the event, and more when duplicates are asked for.
func (b *Bus) match(e Event) []delivery {
	if !slices.Contains(b.cfg.Stack.Buses, e.Bus) {
		b.cfg.Log.Warn("an event for a bus that does not exist is dropped, as AWS does", "bus", e.Bus, "detailType", e.DetailType, "id", e.ID)
		return nil
	}
	if b.cfg.Hold != nil && b.cfg.Hold(e) {
		return nil
	}
	var out []delivery
	payload := e.payload()
	for _, r := range b.rules {
		if r.Bus != e.Bus || !r.pattern.MatchJSON(payload) {
			continue
		}
		times := 1
		if b.cfg.Duplicate != nil {
			times += b.cfg.Duplicate(e)
		}
		for range times {
			out = append(out, delivery{ID: uuid.NewString(), Rule: r.Name, Event: e, Accepted: b.cfg.Now().UTC()})
		}
	}
	if len(out) == 0 {
		b.cfg.Log.Debug("no rule wants the event", "bus", e.Bus, "source", e.Source, "detailType", e.DetailType, "id", e.ID)
	}
	return out
}

func (b *Bus) rule(name string) (rule, bool) {
	i := slices.IndexFunc(b.rules, func(r rule) bool { return r.Name == name })
	if i < 0 {
		return rule{}, false
	}
	return b.rules[i], true
}

func (b *Bus) arn(kind, rest string) string {
	return strings.Join([]string{"arn:aws", kind, b.cfg.Stack.Region, b.cfg.Stack.Account, rest}, ":")
}
