package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// rewriteRows is how many rows are rewritten together: a transaction holds 4 MB.
const rewriteRows = 8

func blocked(out loop.Outcome) bool {
	return out.Stop == model.StopGuardrail || out.Stop == model.StopFiltered
}

// withhold ends a turn that a content filter blocked. What was said in it must not stay: it would be blocked in every turn to come. So
// the state first says that the turn is to be taken out; then every row that holds a part of it is written again without, which whoever
// owns the session does again if this owner dies; then the turn ends.
//
//	blocked ─▶ STATE withheld ─▶ events ─▶ segments ─▶ the turn ends as blocked
func (o *owner) withhold(ctx context.Context, v *view, out loop.Outcome) (bool, error) {
	v.drop()
	o.cast.Withdraw(v.attempt + 1)
	p := session.Progress{NextIndex: o.next, Spent: o.spend(session.Spent{})}
	if err := o.commit(ctx, o.state.Withhold(o.me, p, o.Now()), true); err != nil {
		return false, err
	}
	o.log.WarnContext(ctx, "turn blocked by a content filter", "turn", o.state.TurnID(), "stop", out.Stop)
	return o.withdraw(ctx)
}

// drop forgets what was shown and is not written yet.
func (v *view) drop() {
	v.delta.Reset()
	v.thought.Reset()
	v.buffer = nil
}

// withdraw takes the open turn out of all rows and ends it, and with it the turns before whose words no model had accepted: they may be
// why this one was blocked. The files that came with their messages or were written in them go too.
func (o *owner) withdraw(ctx context.Context) (bool, error) {
	begin := o.state.Doubt
	if begin.Opening == "" {
		begin = session.Doubt{Opening: o.state.Opening, Prompt: o.state.Prompt}
	}
	first := o.state.TurnSeq
	events, err := o.Table.RewriteEvents(ctx, o.id, begin.Prompt, func(e *contract.SessionEvent) {
		if e.Index >= begin.Prompt && strings.HasPrefix(e.TurnID, "turn_") {
			e.Data = withheldData(*e)
			first = min(first, turnNumber(e.TurnID, first))
		}
	})
	if err != nil {
		return false, err
	}
	files, err := o.Table.DropFiles(ctx, o.id, first)
	if err != nil {
		return false, err
	}
	segments, err := o.Table.RewriteSegments(ctx, o.id, cmp.Or(begin.Opening, o.state.Tip), o.state.Tip, snapshot.Withhold)
	if err != nil {
		return false, err
	}
	inputs, err := o.Table.RewriteInputs(ctx, o.id, o.state.TurnSeq)
	if err != nil {
		return false, err
	}
	for all := slices.Concat(files, events, inputs, segments); len(all) > 0; all = all[min(rewriteRows, len(all)):] {
		if err := o.commit(ctx, o.state.Hold(o.me, o.Now()), true, all[:min(rewriteRows, len(all))]...); err != nil {
			return false, err
		}
	}
	o.history = nil
	o.Remembered.forget(o.id)
	if o.state.Stopped() || o.state.Preempted() {
		return o.endFlagged(ctx, nil, o.spent())
	}
	return o.endBlocked(ctx, o.spent())
}

// turnNumber is the number in a turn's id, or instead.
func turnNumber(turnID string, instead int64) int64 {
	var n int64
	if _, err := fmt.Sscanf(turnID, "turn_%d", &n); err != nil {
		return instead
	}
	return n
}

// endBlocked ends a turn whose answer, or question, a content filter withheld.
func (o *owner) endBlocked(ctx context.Context, usage contract.Usage) (bool, error) {
	e := ending{
		status: task.Failed, reason: task.ReasonBlocked, usage: &usage, outcome: "failed",
		data: []contract.EventData{contract.TurnFailed{Status: task.ReasonBlocked, Error: loop.BlockedText, Usage: &usage}},
	}
	if err := o.closeCalls(ctx, &e, nil); err != nil {
		return false, err
	}
	done, err := o.end(ctx, e)
	if err == nil {
		o.sayFailed(ctx, task.ReasonBlocked, loop.BlockedText)
	}
	return done, err
}

// withholdTask takes what was blocked out of a task that the turn ran. Parts of its long texts go in the same write.
func withholdTask(t task.Task, change task.Change) (task.Change, []store.Write) {
	change.To = change.To.Withhold(snapshot.Withheld)
	return change, store.DropDetail(t)
}

// withheldData is an event's data without what was said: the words of users give way to a note, those of the model are withdrawn.
func withheldData(e contract.SessionEvent) json.RawMessage {
	switch e.Type {
	case "message.received":
		return edited(e, func(d *contract.MessageReceived) { d.Text, d.Files = snapshot.Withheld, nil })
	case "nudge.delivered":
		return edited(e, func(d *contract.NudgeDelivered) { d.Text, d.Files = snapshot.Withheld, nil })
	case "message.appended":
		return edited(e, func(d *contract.MessageAppended) { d.Delta = "" })
	case "message.completed":
		return edited(e, func(d *contract.MessageCompleted) { d.Text = "" })
	case "reasoning.appended":
		return edited(e, func(d *contract.ReasoningAppended) { d.Delta = "" })
	case "reasoning.completed":
		return edited(e, func(d *contract.ReasoningCompleted) { d.Text = "" })
	case "actions.requested":
		return edited(e, func(d *contract.ActionsRequested) {
			for i := range d.Calls {
				d.Calls[i].Input = json.RawMessage(`{}`)
			}
		})
	case "action.result":
		return edited(e, func(d *contract.ActionResult) { d.Output, _ = json.Marshal(snapshot.Withheld) })
	case "subagent.called":
		return edited(e, func(d *contract.SubagentCalled) { d.Request = snapshot.Withheld })
	case "subagent.completed":
		return edited(e, func(d *contract.SubagentCompleted) { d.Error = "" })
	case "action.tool_retry":
		return edited(e, func(d *contract.ActionToolRetry) { d.Error = "" })
	case "action.approval_requested":
		return edited(e, func(d *contract.ApprovalRequested) { d.Input = json.RawMessage(`{}`) })
	}
	return e.Data
}

// edited is an event's data changed. Data that cannot be read is dropped.
func edited[D any](e contract.SessionEvent, change func(*D)) json.RawMessage {
	var d D
	if json.Unmarshal(e.Data, &d) != nil {
		return json.RawMessage(`{}`)
	}
	change(&d)
	raw, err := json.Marshal(d)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}
