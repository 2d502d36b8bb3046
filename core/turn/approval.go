package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
)

// approvedBySkill reports whether a skill of the program that stood in the conversation when the call was asked for says, in its
// allowed-tools, that the call needs nobody. Only the name of a tool counts: a pattern of inputs is not understood here.
func (j *journal) approvedBySkill(ctx context.Context, call model.ToolUse) bool {
	if j.active == nil { // the session takes no skills
		return false
	}
	k, err := j.knowSkills(ctx)
	if err != nil {
		return false
	}
	h, err := j.load(ctx)
	if err != nil || !slices.Contains(skill.NewActive(h.Messages).AllowedTools(k.set), call.Name) {
		return false
	}
	j.log.InfoContext(ctx, "a skill approves the call", "tool", call.Name, "call", call.ID)
	return true
}

// maxAsked is how many calls of one reply may wait for people: each is a row of the transaction that ends the turn, which holds 100, with
// the files that were tagged and what else goes with the end.
const maxAsked = 40

// tooMany is the result of a call that would be one more.
func tooMany(call model.ToolUse) error {
	text := fmt.Sprintf("%d calls of this reply wait for a person already, and no more may. This one was not run, and nobody was asked: call it again later.", maxAsked)
	return &loop.Answered{Result: model.ToolResult{ID: call.ID, Status: model.Failure, Content: []model.ResultPart{{Text: text}}}}
}

// refusal is what the model reads of a call that was not approved.
func refusal(call model.ToolUse, a session.Approval) model.ToolResult {
	text := "The call was denied. It was not run."
	switch {
	case a.Status == session.Expired:
		text = "Nobody decided about the call in time. It was not run."
	case a.Reason != "":
		text = "The call was denied: " + a.Reason + " It was not run."
	}
	return model.ToolResult{ID: call.ID, Status: model.Failure, Content: []model.ResultPart{{Text: text}}}
}

// Park asks people about the calls that wait, keeps the results of the others, and gives the session up: nothing runs until
// somebody has decided about all of them, or nobody has in time.
func (j *journal) Park(ctx context.Context, _ int, results []model.ToolResult, took []time.Duration, waiting []model.ToolUse) error {
	message := model.Message{Role: model.User}
	var data []contract.EventData
	for i, r := range results {
		message.Content = append(message.Content, model.Block{ToolResult: &r})
		data = append(data, contract.ActionResult{
			ID: r.ID, Name: j.view.names[r.ID], Status: string(r.Status), Output: output(r), DurationMs: took[i].Milliseconds(),
		})
	}
	until := j.Now().Add(j.timeToDecide())
	asked, writes, err := j.ask(ctx, waiting, until)
	if err != nil {
		return err
	}
	j.view.settleText()
	tagged, tags := j.files.tags()
	data, writes = append(data, tagged...), append(writes, tags...)
	events := j.events(j.state.TurnID(), append(data, asked...)...)
	p := session.Progress{NextIndex: j.next + int64(len(events)), Spent: j.spend(j.view.takeDelegated())}
	var s *snapshot.Segment
	if len(results) > 0 {
		s = j.segment(message)
		p.Tip = s.ID
		writes = append(writes, store.NewSegment(j.id, *s, j.Now()))
	}
	writes = append(writes, j.eventsWrite(events))
	change := j.state.Park(j.me, int64(len(waiting)), until, p)
	if writes, err = j.keepBeside(ctx, change, writes); err != nil {
		return errors.Join(errReload, err)
	}
	if err := j.commit(ctx, change, false, writes...); err != nil {
		return err
	}
	j.sayApprovals(ctx, events, asked)
	j.wrote(events)
	j.remember(s)
	j.log.InfoContext(ctx, "turn waits for people", "turn", j.state.TurnID(), "calls", len(waiting))
	return errParked
}

func (e *Engine) timeToDecide() time.Duration {
	if e.Approvals > 0 {
		return e.Approvals
	}
	return session.ApprovalLife
}

// ask makes the approvals of calls that have none, with their events. One that has one waits for it: it is asked about no second time.
func (j *journal) ask(ctx context.Context, waiting []model.ToolUse, until time.Time) (data []contract.EventData, writes []store.Write, err error) {
	for _, call := range waiting {
		if _, err := j.Table.Approval(ctx, j.id, call.ID); !fault.Is(err, fault.NotFound) {
			return nil, nil, errors.Join(errReload, err)
		}
		c := contract.ActionCall{ID: call.ID, Name: call.Name, Input: call.Input}
		for _, a := range j.state.Ask([]contract.ActionCall{c}, until, j.Now()) {
			writes = append(writes, store.NewApproval(a, call.Input))
		}
		data = append(data, contract.ApprovalRequested{ActionID: c.ID, Name: c.Name, Input: c.Input, ExpiresAt: contract.At(until)})
	}
	return data, writes, nil
}

// tellResolved writes what became of the open turn's approvals into the log, once, before anything is done about it. Those that nobody
// decided about in time expire with it.
func (o *owner) tellResolved(ctx context.Context, h snapshot.History) error {
	data, writes, err := o.resolved(ctx, h, false)
	if err != nil || len(data) == 0 {
		return err
	}
	events := o.events(o.state.TurnID(), data...)
	p := session.Progress{NextIndex: o.next + int64(len(events))}
	writes = append(writes, o.eventsWrite(events))
	if err := o.commit(ctx, o.state.SavePart(o.me, p, o.Now()), true, writes...); err != nil {
		return err
	}
	o.sayApprovals(ctx, events, data)
	o.wrote(events)
	return nil
}

// sayApprovals tells the followers what the last of events say: that calls wait, or what became of them.
func (o *owner) sayApprovals(ctx context.Context, events []contract.SessionEvent, data []contract.EventData) {
	o.latecomers(ctx, o.cast)
	for i, d := range data {
		index := events[len(events)-len(data)+i].Index
		switch d := d.(type) {
		case contract.ApprovalRequested:
			o.cast.Approval(d.Body(), &index)
		case contract.ApprovalResolved:
			o.cast.Approval(d.Body(), &index)
		}
	}
}

// resolved gives the events and the rows of approvals that are decided and not told of. With over the turn ends: whatever has not run
// will not.
func (o *owner) resolved(ctx context.Context, h snapshot.History, over bool) (data []contract.EventData, writes []store.Write, err error) {
	_, missing := openCalls(h.Messages)
	if !o.state.Asked || len(missing) == 0 {
		return nil, nil, nil
	}
	for _, call := range missing {
		a, err := o.Table.Approval(ctx, o.id, call.ID)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("approval of call %s: %w", call.ID, err)
		}
		change, ok := a.Tell(over, o.Now())
		if !ok {
			continue
		}
		data = append(data, change.To.Resolved())
		writes = append(writes, store.ChangeApproval(change))
	}
	return data, writes, nil
}
