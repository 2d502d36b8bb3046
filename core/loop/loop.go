// Package loop runs an agent's turn: it asks the model, runs the tools the model calls for, gives it their results and
// asks again, until there is an answer or a limit is reached.
//
// Next is the rule: a pure function from what stands in the history to what comes next. Runner does it: attempts and
// retries of a model call, parallel tools, and the moments at which its owner must make a step durable (Journal) or may
// show it (Watch). Run is the same without an owner: one question, one answer, nothing kept.
//
//	          calls                 results
//	ask ────────────────▶ run tools ────────────────▶ ask ...
//	 │ answer, blocked, cut                            │ limit of steps or tokens
//	 └───────────────────▶ finish ◀────────────────────┘
//
// The package never stores anything, never talks to a client, and never trusts a stop reason alone: a complete call runs
// also when the model says its turn has ended, and no call of a reply that was cut, blocked or broken off ever runs.
package loop

import (
	"context"
	"iter"
	"time"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Model is a service that answers requests. Stream calls it once and yields the reply piece by piece. An error ends the
// stream; a retryable fault (fault.Unavailable) means that the same request may succeed later. A stream that ends without
// model.Stop was cut. Breaking off the range, or the end of ctx, ends the call; Stream must then return soon. It must be
// safe for concurrent use.
type Model interface {
	Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error]
}

// Defaults of a model call whose caller sets nothing.
const (
	DefaultSystemPrompt = "You are a helpful assistant."
	DefaultMaxTokens    = 4096
	DefaultTemperature  = 0.7
)

// Defaulted is a Model with defaults of its own: 0 and nil where it has none. A bedrock.Model is one.
type Defaulted interface {
	Defaults() (maxTokens int, temperature *float64)
}

// defaultsOf gives what a call asks for when its caller says nothing.
func defaultsOf(m Model) (maxTokens int, temperature *float64) {
	if d, ok := m.(Defaulted); ok {
		maxTokens, temperature = d.Defaults()
	}
	if temperature == nil {
		temperature = new(DefaultTemperature)
	}
	return or(maxTokens, DefaultMaxTokens), temperature
}

// Limits bound a run. Zeros mean the defaults.
type Limits struct {
	Steps    int           // model calls that count; default 25. A failed attempt does not count
	Tokens   int           // sum of all tokens after which the model is not asked again; default: no limit
	Attempts int           // tries of one model call; default 3
	Backoff  time.Duration // wait after the first failed try, doubled each time up to 20 s; default 500 ms
	Parallel int           // tools of one reply that run at the same time; default 8
	Tool     time.Duration // of a call of a tool without a Timeout of its own; default 10 min
	Grace    time.Duration // how long tools may take to return once the run is cancelled; default 2 s
}

const maxBackoff = 20 * time.Second

// filled replaces zeros by the defaults.
func (l Limits) filled() Limits {
	return Limits{
		Steps: or(l.Steps, 25), Tokens: l.Tokens, Attempts: or(l.Attempts, 3), Backoff: or(l.Backoff, 500*time.Millisecond),
		Parallel: or(l.Parallel, 8), Tool: or(l.Tool, 10*time.Minute), Grace: or(l.Grace, 2*time.Second),
	}
}

func or[N int | time.Duration](n, def N) N {
	if n <= 0 {
		return def
	}
	return n
}
