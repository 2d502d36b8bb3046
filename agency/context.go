package agency

import (
	"context"
	"log/slog"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Context is what a handler has: the task's context, who acts, what it pursues and what it promised. It serves the goroutine of the
// handler. A task that is retried runs its handler again; promises and follow-ups are sent once all the same.
type Context[P, N, I any] struct {
	context.Context
	AgentType, AgentID string
	Persona            P
	Principal          task.Principal
	TaskID             string // an idempotency key for whatever the handler does
	Kind               string
	Request            string
	Trigger            task.Trigger
	Scope              string
	Now                time.Time // when the run began
	Agenda             Agenda[N]
	Commitments        []Commitment[I] // kept up to date by the methods
	Log                *slog.Logger

	definition     typed[P, N, I]
	agendaRevision int64
	spent          spending
}

// Promise is something the agent said it would do.
type Promise[I any] struct {
	Kind        string // of the task that will do it
	Counterpart string // to whom
	Source      Said   // where: one promise for each place and kind
	Intent      I
	ExpiresAt   time.Time
	Request     string
	Payload     map[string]any // commitmentId is added
	AgendaID    string
	Delay       time.Duration
}

// FollowUp is another task for the same agent.
type FollowUp struct {
	Kind    string
	Key     string // tells the follow-ups of one task apart
	Request string
	Payload any
	Delay   time.Duration
}

func (c *Context[P, N, I]) key(name string) StateKey {
	return StateKey{AgentID: c.AgentID, Name: c.AgentType + "." + name, Scope: c.Scope}
}

func (c *Context[P, N, I]) see(b CommitmentBook[I]) { c.Commitments = b.Commitments }

// AgendaLines describes the active goals for a prompt, best first.
func (c *Context[P, N, I]) AgendaLines(describe func(Goal[N]) string) []string {
	return AgendaLines(c.Agenda, describe)
}

// Payload reads the trigger's payload into v. Faults: Invalid.
func (c *Context[P, N, I]) Payload(v any) error {
	if len(c.Trigger.Payload) == 0 {
		return nil
	}
	if err := unmarshal(c.Trigger.Payload, v); err != nil {
		return fault.Wrap(fault.Invalid, err, "payload of %s", c.TaskID)
	}
	return nil
}

// Commitment is the one that this task owns, if it follows up on a promise.
func (c *Context[P, N, I]) Commitment() (Commitment[I], bool) {
	p, err := readPayload[struct{ CommitmentID any }](c.Trigger.Payload)
	id, ok := p.CommitmentID.(string)
	if err != nil || !ok {
		return Commitment[I]{}, false
	}
	return CommitmentBook[I]{Commitments: c.Commitments}.Find(id)
}

// WithPayload makes a handler of a function that takes the trigger's payload.
func WithPayload[P, N, I, D any](fn func(*Context[P, N, I], D) (string, error)) func(*Context[P, N, I]) (string, error) {
	return func(c *Context[P, N, I]) (string, error) {
		var d D
		if err := c.Payload(&d); err != nil {
			return "", err
		}
		return fn(c, d)
	}
}

// WithCommitment makes a handler of a function that takes the commitment the task owns. A task without one fails, and so does that of one
// that is Unreadable.
func WithCommitment[P, N, I any](fn func(*Context[P, N, I], Commitment[I]) (string, error)) func(*Context[P, N, I]) (string, error) {
	return func(c *Context[P, N, I]) (string, error) {
		com, ok := c.Commitment()
		if !ok {
			return "", fault.New(fault.NotFound, "task %s owns no commitment", c.TaskID)
		}
		if err := com.Unreadable(); err != nil {
			return "", fault.Wrap(fault.Internal, err, "intent of %s", com.ID)
		}
		return fn(c, com)
	}
}

// DueCommitments gives what a check-in should look after, as of now.
func (c *Context[P, N, I]) DueCommitments(changed func(Commitment[I]) bool) Due[I] {
	return DueCommitments(CommitmentBook[I]{Commitments: c.Commitments}, c.Now, changed, c.definition.CommitmentLimits)
}

// AdvanceCommitment moves a commitment; an event without a task id is one of this task. applied is false, and nothing changes, when the
// event does not apply, for example because a retried task began before. Faults: Unavailable.
func (c *Context[P, N, I]) AdvanceCommitment(id string, e CommitmentEvent) (applied bool, err error) {
	return c.advance(c, id, c.own(e))
}

func (c *Context[P, N, I]) advance(ctx context.Context, id string, e CommitmentEvent) (applied bool, err error) {
	err = c.change(ctx, func(b CommitmentBook[I], l CommitmentLimits) (next CommitmentBook[I]) {
		next, applied = AdvanceCommitment(b, id, e, c.definition.agent.now(), l)
		return next
	})
	return applied && err == nil, err
}

// change writes the next state of the book; update may run again.
func (c *Context[P, N, I]) change(ctx context.Context, update func(b CommitmentBook[I], l CommitmentLimits) CommitmentBook[I]) error {
	d, l := c.definition, c.definition.CommitmentLimits.orDefault()
	return within(l.History, func(history int) error {
		l.History = history
		s, err := UpdateState(ctx, d.agent.store, c.key("commitments"), func(b CommitmentBook[I]) (CommitmentBook[I], error) {
			return update(b, l), nil
		})
		if err == nil {
			c.see(s.Value)
		}
		return err
	})
}

// own fills in this task's id.
func (c *Context[P, N, I]) own(e CommitmentEvent) CommitmentEvent {
	switch e := e.(type) {
	case Start:
		return Start{or(e.TaskID, c.TaskID)}
	case Waiting:
		e.TaskID = or(e.TaskID, c.TaskID)
		return e
	case Closed:
		e.TaskID = or(e.TaskID, c.TaskID)
		return e
	}
	return e
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
