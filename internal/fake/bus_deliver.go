package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// maxDeliveries is how many deliveries one Drain makes before it calls the flow endless.
const maxDeliveries = 10_000

// Drain hands every waiting event to handler, one after the other, until none waits, also those that handlers put on the
// bus meanwhile. Each delivery is a worker of its own (WithWorker): when it dies or fails the event is delivered again, at most Retries times, then it is
// a dead letter. It gives the number of deliveries, and an error when ctx ended or the deliveries find no end.
func (b *Bus) Drain(ctx context.Context, handler func(context.Context, Event) error) (int, error) {
	for n := 0; ; n++ {
		if err := alive(ctx, "bus.Drain"); err != nil {
			return n, err
		}
		if n == maxDeliveries {
			return n, fmt.Errorf("bus.Drain: no end after %d deliveries", n)
		}
		d, name, any := b.next()
		if !any {
			return n, nil
		}
		b.deliver(ctx, name, d, handler)
	}
}

// next takes a waiting event.
func (b *Bus) next() (d delivery, worker string, any bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return delivery{}, "", false
	}
	if b.Order != nil {
		slices.SortStableFunc(b.waiting, func(x, y delivery) int { return b.Order(x.event, y.event) })
	}
	d = b.waiting[0]
	b.waiting = b.waiting[1:]
	b.runs++
	return d, fmt.Sprintf("delivery-%d", b.runs), true
}

func (b *Bus) deliver(ctx context.Context, worker string, d delivery, handler func(context.Context, Event) error) {
	ctx = WithWorker(ctx, worker)
	err := handler(ctx, d.event)
	if Killed(ctx) {
		err = errors.Join(err, ErrKilled)
	}
	Kill(ctx)
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d.failures++
	if d.failures > b.retries() {
		b.dead = append(b.dead, d.event)
		return
	}
	b.waiting = append(b.waiting, d)
}

func (b *Bus) retries() int {
	if b.Retries == 0 {
		return 2
	}
	return max(b.Retries, 0)
}

// Events gives every accepted event, in order.
func (b *Bus) Events() []Event { return b.list(&b.accepted) }

// DeadLetters gives the events whose deliveries all failed.
func (b *Bus) DeadLetters() []Event { return b.list(&b.dead) }

// Lost gives the events that were accepted but never reach anyone: dropped, or sent to a bus that does not exist.
func (b *Bus) Lost() []Event { return b.list(&b.lost) }

func (b *Bus) list(events *[]Event) []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(*events)
}

// Waiting gives the events that a Drain would deliver now.
func (b *Bus) Waiting() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Event
	for _, d := range b.waiting {
		out = append(out, d.event)
	}
	return out
}

// Of gives the accepted events of one detail-type.
func (b *Bus) Of(detailType string) []Event {
	return slices.DeleteFunc(b.Events(), func(e Event) bool { return e.DetailType != detailType })
}
