package agency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// typed is the part of an agent type that knows its persona, needs and intents.
type typed[P, N, I any] struct {
	Definition[P, N, I]
	agent *Agent
}

func (d typed[P, N, I]) pacing(ctx context.Context, agentID string) (Pacing, error) {
	p, err := d.Profile(ctx, agentID)
	return p.Pacing, err
}

// scope is that of an agent's documents; "" for a type without scopes.
func (d typed[P, N, I]) scope(ctx context.Context, agentID string) (string, error) {
	if d.Scope == nil {
		return "", nil
	}
	return d.Scope(ctx, agentID)
}

// open looks an agent up and gives what runs its tasks.
func (d typed[P, N, I]) open(ctx context.Context, agentID string) (runner, error) {
	p, err := d.Profile(ctx, agentID)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, j job) (outcome, error) { return d.run(ctx, j, p.Persona) }, nil
}

// run does a claimed task: whatever fails here is judged by the caller, who holds the claim.
func (d typed[P, N, I]) run(ctx context.Context, j job, persona P) (end outcome, err error) {
	c, err := d.prepare(ctx, j, persona)
	if err != nil {
		return end, err
	}
	end.output, err = "", errors.New(task.ReasonWorkerLost)
	if j.claimed.Attempt <= task.MaxAttempts {
		end.output, err = c.handle(d.Tasks[j.kind()])
	}
	defer func() { end.used = c.spent.total() }()
	if err != nil {
		cause, over := j.ended(ctx, err)
		if over {
			return end, cause
		}
		return end, c.failed(cause)
	}
	if d.Observe != nil {
		if err := c.observe(); err != nil {
			d.agent.log.WarnContext(ctx, "observe_failed", "task", j.request.TaskID, "error", err)
		}
	}
	return end, nil
}

// prepare admits the task, settles what has expired and loads what the handler sees.
func (d typed[P, N, I]) prepare(ctx context.Context, j job, persona P) (*Context[P, N, I], error) {
	j.now = d.agent.now()
	scope, err := d.scope(ctx, j.agentID())
	if err != nil {
		return nil, fmt.Errorf("scope of %s: %w", j.agentID(), err)
	}
	j.scope = scope
	c := &Context[P, N, I]{
		Context: ctx, AgentType: d.Name, AgentID: j.agentID(), Persona: persona, Principal: j.request.Principal, TaskID: j.request.TaskID, Kind: j.kind(),
		Request: j.request.Request, Trigger: *j.request.Trigger, Scope: j.scope, Now: j.now, Log: d.agent.log.With("task", j.request.TaskID, "agent", j.agentID()),
		definition: d,
	}
	if err := d.agent.admit(ctx, j); err != nil {
		return nil, c.refused(j, err)
	}
	err = c.change(ctx, func(b CommitmentBook[I], l CommitmentLimits) CommitmentBook[I] {
		next, _ := ExpireCommitments(b, j.now, l)
		return next
	})
	if err != nil {
		return nil, err
	}
	agenda, err := ReadState[Agenda[N]](ctx, d.agent.store, c.key("agenda"))
	if err != nil {
		return nil, err
	}
	c.Agenda, c.agendaRevision = agenda.Value, agenda.Revision
	return c, nil
}

// refused is failed for a task that is kept back: a run before this one may have begun to look into something.
func (c *Context[P, N, I]) refused(j job, cause error) error {
	if j.claimed.Attempt <= 1 {
		return cause
	}
	book, err := ReadState[CommitmentBook[I]](c, c.definition.agent.store, c.key("commitments"))
	if err != nil {
		return err
	}
	c.see(book.Value)
	return c.failed(cause)
}

// observe brings the agenda in line with what the host sees.
func (c *Context[P, N, I]) observe() (err error) {
	defer recovered(&err, "the observation")
	d := c.definition
	at := d.agent.now()
	o, err := d.Observe(c)
	if err != nil || o.None {
		return err
	}
	o.At, o.TaskID = contract.At(at), c.TaskID
	return racing(c, func() error { return c.reconcile(o) })
}

// reconcile writes the agenda after an observation. If nobody wrote it since this run read it, the observation is the newer one, whatever
// the clocks say.
func (c *Context[P, N, I]) reconcile(o Observation[N]) error {
	d, k := c.definition, c.key("agenda")
	s, err := ReadState[Agenda[N]](c, d.agent.store, k)
	if err != nil {
		return err
	}
	if last, ok := readTime(s.Value.ObservedAt); ok && s.Revision == c.agendaRevision {
		if at, _ := readTime(o.At); at.Before(last) {
			o.At = s.Value.ObservedAt
		}
	}
	limits := d.AgendaLimits.orDefault()
	return within(limits.History, func(history int) error {
		limits.History = history
		next, _ := reconcile(s.Value, o, limits, true)
		value, err := encode(next)
		if err != nil {
			return err
		}
		return d.agent.store.WriteState(c, k, Document{Value: value, Revision: s.Revision})
	})
}

// handle runs the handler; a panic is its error.
func (c *Context[P, N, I]) handle(do func(*Context[P, N, I]) (string, error)) (output string, err error) {
	defer recovered(&err, "the handler")
	return do(c)
}

// failed moves what the task had begun to look into: closed if the task is over, queued again if it will run again. If that cannot be
// written the task is not over: the error is that of the write.
func (c *Context[P, N, I]) failed(cause error) error {
	var event CommitmentEvent = Closed{TaskID: c.TaskID, Status: CommitmentFailed, Reason: "task_failed"}
	if a := c.definition.agent; a.again(cause) {
		if event = (requeue{c.TaskID}); !a.store.Sweeps() { // who delivers again is the caller's affair: it stays as it is
			return cause
		}
	}
	for _, com := range c.Commitments {
		if com.owner() != c.TaskID || com.Status != CommitmentEvaluating {
			continue
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c), 5*time.Second)
		_, err := c.advance(ctx, com.ID, event)
		cancel()
		if err != nil {
			c.Log.WarnContext(c, "commitment_left", "commitment", com.ID, "error", err)
			return err
		}
	}
	return cause
}

// readPayload reads the trigger's payload; none is the zero value.
func readPayload[D any](payload json.RawMessage) (d D, err error) {
	if len(payload) > 0 {
		err = json.Unmarshal(payload, &d)
	}
	return d, err
}
