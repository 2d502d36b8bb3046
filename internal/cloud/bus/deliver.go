package bus

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// delivery is one event on its way to one rule's function.
type delivery struct {
	ID       string    `json:"id"`
	Rule     string    `json:"rule"`
	Event    Event     `json:"event"`
	Bus      string    `json:"bus"` // Event.Bus, which the event's own JSON leaves out
	Accepted time.Time `json:"accepted"`
}

// deliver hands the event over, again and again within the rule's retry policy, then to the dead letters. It ends early
// only with the bus, which then takes the delivery up when it opens again.
func (b *Bus) deliver(d delivery) {
	r, ok := b.rule(d.Rule)
	if !ok {
		b.cfg.Log.Warn("an event is dropped: its rule is no longer in the template", "rule", d.Rule, "id", d.Event.ID)
		b.done(d)
		return
	}
	for retries := 0; ; retries++ {
		err := b.cfg.Invoker.Enqueue(b.ctx, r.Function, "rule "+r.Name, d.Event.payload())
		if err == nil {
			b.done(d)
			return
		}
		if b.ctx.Err() != nil {
			return
		}
		if exhausted := b.exhausted(r, d, retries); exhausted != "" {
			b.giveUp(r, d, retries, exhausted, err)
			return
		}
		b.cfg.Log.Warn("an event could not be handed over", "rule", r.Name, "function", r.Function, "retry", retries+1, "error", err)
		if !b.sleep(b.cfg.Backoff(retries + 1)) {
			return
		}
	}
}

// exhausted names the limit of the retry policy that was reached.
func (b *Bus) exhausted(r rule, d delivery, retries int) string {
	switch {
	case retries >= r.MaxRetries:
		return "MaximumRetryAttempts"
	case r.MaxAge > 0 && b.cfg.Now().Sub(d.Accepted) >= r.MaxAge:
		return "MaximumEventAgeInSeconds"
	}
	return ""
}

// giveUp tries the rule's dead letters until they take the event.
func (b *Bus) giveUp(r rule, d delivery, retries int, exhausted string, cause error) {
	b.cfg.Log.Error("an event was not delivered", "rule", r.Name, "function", r.Function, "id", d.Event.ID, "deadLetters", r.DeadLetters, "error", cause)
	if r.DeadLetters == "" || b.cfg.DeadLetter == nil {
		b.done(d)
		return
	}
	attributes := map[string]string{
		"RULE_ARN":                  b.ruleARN(r),
		"TARGET_ARN":                b.arn("lambda", "function:"+r.Function),
		"ERROR_CODE":                "SDK_CLIENT_ERROR",
		"ERROR_MESSAGE":             cause.Error(),
		"EXHAUSTED_RETRY_CONDITION": exhausted,
		"RETRY_ATTEMPTS":            strconv.Itoa(retries),
	}
	for try := 1; ; try++ {
		err := b.cfg.DeadLetter(r.DeadLetters, d.Event.payload(), attributes)
		if err == nil {
			b.done(d)
			return
		}
		b.cfg.Log.Error("the dead letters did not take an event", "rule", r.Name, "id", d.Event.ID, "error", err)
		if !b.sleep(b.cfg.Backoff(try)) {
			return
		}
	}
}

func (b *Bus) ruleARN(r rule) string {
	if r.Bus == "default" {
		return b.arn("events", "rule/"+r.Name)
	}
	return b.arn("events", "rule/"+r.Bus+"/"+r.Name)
}

// sleep reports whether the wait went by before the bus was closed.
func (b *Bus) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-b.ctx.Done():
		return false
	}
}

// record is one change of the journal.
type record struct {
	Put  []delivery `json:"put,omitempty"`
	Done string     `json:"done,omitempty"`
}

// done forgets a delivery. The journal may lose this on a crash: then the event is delivered twice.
func (b *Bus) done(d delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pending, d.ID)
	b.append(record{Done: d.ID})
	b.settled.Broadcast()
}

func (b *Bus) append(r record) int64 {
	if b.journal == nil {
		return 0
	}
	for i := range r.Put {
		r.Put[i].Bus = r.Put[i].Event.Bus
	}
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("bus: an event that was checked cannot be written as JSON: %v", err))
	}
	position := b.journal.Append(line)
	if b.journal.Large() {
		if err := b.journal.Compact(b.emitState); err != nil {
			b.cfg.Log.Error("event journal stays as it is", "error", err)
		}
	}
	return position
}

func (b *Bus) emitState(emit func([]byte) error) error {
	for _, d := range b.pending {
		line, err := json.Marshal(record{Put: []delivery{*d}})
		if err != nil {
			return err
		}
		if err := emit(line); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bus) replay(line []byte) error {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	for _, d := range r.Put {
		d.Event.Bus = d.Bus
		b.pending[d.ID] = &d
	}
	delete(b.pending, r.Done)
	return nil
}
