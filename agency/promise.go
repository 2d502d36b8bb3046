package agency

import (
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// FollowUp sends another task for this agent, once per key, and gives its id. Faults: Invalid for a kind without handler, Limit for a
// payload over MaxPayloadBytes, Unavailable.
func (c *Context[P, N, I]) FollowUp(f FollowUp) (taskID string, err error) {
	t, err := c.next("followup:"+c.TaskID+":"+f.Key, f.Kind, f.Request, f.Payload, f.Delay)
	if err != nil {
		return "", err
	}
	a := c.definition.agent
	got, err := a.reserve(c, t, nil, nil)
	if err != nil {
		return "", err
	}
	if !got.Owed && a.store.Sweeps() {
		return t.TaskID, nil
	}
	return t.TaskID, a.send(c, t)
}

// next is a task that follows from this one.
func (c *Context[P, N, I]) next(event, kind, request string, payload any, delay time.Duration) (AgentTask, error) {
	a := c.definition.agent
	if !a.kinds[kind] {
		return AgentTask{}, fault.New(fault.Invalid, "No task handler for follow-up kind %q", kind)
	}
	delay = max(0, delay)
	t := AgentTask{
		TaskID: a.ownTaskID(event, c.AgentID, kind, c.Scope), AgentID: c.AgentID, Principal: a.principal(c.AgentID), Request: request, Delay: delay,
		Trigger: task.Trigger{Kind: kind, AgentID: c.AgentID, EventID: c.TaskID, DetailType: FollowUpDetailType}, RunAt: a.now().Add(delay),
	}
	if payload != nil {
		data, err := payloadOf(payload)
		if err != nil {
			return t, fmt.Errorf("follow-up of %s: %w", c.TaskID, err)
		}
		t.Trigger.Payload = data
	}
	return t, nil
}

// Promise records what the agent will say it does and sends the task that will do it: both or neither. Call it before anything is said,
// and look at the outcome: unless it Stands, which is no error, nothing was recorded and the agent should say so instead of promising.
// OpenLimit: the CommitmentLimits are reached; OpenInvalid: no counterpart, or a deadline that is not in the future; OpenTaken: see there.
// Safe to repeat. Faults: Invalid for a kind without handler, Limit for more than a document can hold, Unavailable.
func (c *Context[P, N, I]) Promise(p Promise[I]) (OpenOutcome, error) {
	payload := map[string]any{}
	for name, v := range p.Payload {
		payload[name] = v
	}
	payload["commitmentId"] = p.Kind + ":" + p.Source.Ref
	t, err := c.next("promise:"+p.Source.Ref, p.Kind, p.Request, payload, p.Delay)
	if err != nil {
		return "", err
	}
	draft := CommitmentDraft[I]{
		Kind: p.Kind, TaskID: t.TaskID, Counterpart: p.Counterpart, Source: p.Source, Intent: p.Intent, ExpiresAt: p.ExpiresAt, AgendaID: p.AgendaID,
	}
	if t.Delay > 0 {
		draft.TaskDueAt = t.RunAt
	}
	var outcome OpenOutcome
	did, err := c.commit(t, func(b CommitmentBook[I], l CommitmentLimits) (CommitmentBook[I], bool) {
		draft.At = c.definition.agent.now()
		b, outcome = OpenCommitment(b, draft, l)
		return b, outcome == OpenCreated
	})
	switch {
	case err != nil:
		return outcome, err
	case outcome == OpenCreated && did.reserved.Other:
		c.Log.WarnContext(c, "promise_taken", "commitment", p.Kind+":"+p.Source.Ref, "by", t.TaskID)
		return OpenTaken, nil
	case outcome == OpenCreated && !did.written: // this very task made it, so long ago that history has forgotten it
		outcome = OpenExisting
	}
	if did.reserved.Owed && (outcome == OpenCreated || outcome == OpenExisting) {
		err = c.definition.agent.send(c, t)
	}
	return outcome, err
}

// Redispatch gives a commitment a new task of its kind, within the limits. false: it does not apply (any more). Safe to repeat.
// Faults: Unavailable.
func (c *Context[P, N, I]) Redispatch(com Commitment[I], mode RedispatchMode, request string) (bool, error) {
	event := fmt.Sprintf("%s:%s:%d", mode, com.ID, len(com.ChildTaskIDs))
	t, err := c.next(event, com.Kind, request, map[string]any{"commitmentId": com.ID}, 0)
	if err != nil {
		return false, err
	}
	applied := false
	did, err := c.commit(t, func(b CommitmentBook[I], l CommitmentLimits) (next CommitmentBook[I], write bool) {
		next, applied = AdvanceCommitment(b, com.ID, Redispatch{t.TaskID, mode}, c.definition.agent.now(), l)
		return next, applied
	})
	if err != nil || !did.reserved.Owed {
		return applied && err == nil, err
	}
	return true, c.definition.agent.send(c, t)
}

// committed is what became of a change of the book that calls for a task.
type committed struct {
	written  bool     // both are written
	reserved Reserved // what became of the task
}

// commit changes the book and reserves the task in one write. If the book does not call for the task, nothing is written, and only Owed
// is told: whether it was reserved before, by this very task, and never sent.
func (c *Context[P, N, I]) commit(t AgentTask, change func(CommitmentBook[I], CommitmentLimits) (CommitmentBook[I], bool)) (did committed, err error) {
	l := c.definition.CommitmentLimits.orDefault()
	err = within(l.History, func(history int) error {
		l.History = history
		return racing(c, func() (err error) {
			did, err = c.commitOnce(t, func(b CommitmentBook[I]) (CommitmentBook[I], bool) { return change(b, l) })
			return err
		})
	})
	if err != nil {
		return committed{}, fmt.Errorf("commitments of %s: %w", c.AgentID, err)
	}
	return did, nil
}

func (c *Context[P, N, I]) commitOnce(t AgentTask, change func(CommitmentBook[I]) (CommitmentBook[I], bool)) (did committed, err error) {
	a, k := c.definition.agent, c.key("commitments")
	s, err := ReadState[CommitmentBook[I]](c, a.store, k)
	if err != nil {
		return did, err
	}
	next, write := change(s.Value)
	if !write {
		c.see(next)
		if a.store.Sweeps() {
			did.reserved.Owed, err = a.store.Owes(c, t.TaskID, a.request(t).Delivery(""))
		}
		return did, err
	}
	value, err := encode(next)
	if err != nil {
		return did, err
	}
	did.reserved, err = a.reserve(c, t, nil, []DocumentChange{{k, Document{Value: value, Revision: s.Revision}}})
	did.written = err == nil && !did.reserved.Before && !did.reserved.Other
	if c.see(s.Value); did.written { // else the task is older than this change of the book
		c.see(next)
	}
	return did, err
}
