package turn

import (
	"context"
	"slices"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// ending is the end of a turn before it is written.
type ending struct {
	data    []contract.EventData
	segment *snapshot.Segment // nil: nothing was said
	writes  []store.Write     // what else goes with it
	status  task.Status       // of the turn's task, if it has one
	output  string
	usage   *contract.Usage
	reason  string
	outcome string // of a task session
}

// word is how the turn ended, for the log, of which the template's metrics are made: "completed", or the status of its turn.failed.
func (e ending) word() string {
	for _, d := range e.data {
		if failed, ok := d.(contract.TurnFailed); ok {
			return failed.Status
		}
	}
	return e.outcome
}

// used is what the turn used, likewise; without usd where the price is not known.
func (e ending) used() []any {
	if e.usage == nil {
		return nil
	}
	u := *e.usage
	used := []any{
		"inputTokens", u.InputTokens, "outputTokens", u.OutputTokens, "cacheReadTokens", u.CacheReadTokens, "cacheWriteTokens", u.CacheWriteTokens,
	}
	if u.CostUSD != nil {
		used = append(used, "usd", *u.CostUSD)
	}
	return used
}

// endCompleted ends the turn with its answer.
func (o *owner) endCompleted(ctx context.Context, v *view, out loop.Outcome, usage contract.Usage) (bool, error) {
	o.keepInMind(ctx, out)
	text := out.Final.PlainText()
	e := ending{status: task.Completed, output: text, usage: &usage, outcome: "completed"}
	last := v.last(ctx, out)
	if v.err != nil {
		return false, v.err
	}
	e.data = append(last, contract.TurnCompleted{Result: text, Limit: out.Limit, Usage: usage})
	if len(out.Final.Content) > 0 {
		e.segment = o.segment(out.Final)
	}
	done, err := o.end(ctx, e)
	if s, _, refused := store.RefusedState(err, o.id); refused && s.Mine(o.me.Owner, o.me.Fence) {
		v.flush(ctx) // it was stopped: what it has shown is kept
	}
	if err == nil {
		index := o.next - 1
		o.latecomers(ctx, o.cast)
		o.cast.Complete(&index, &usage, o.ids...)
	}
	return done, err
}

// endFailed ends the turn without an answer.
func (o *owner) endFailed(ctx context.Context, reason string, usage contract.Usage) (bool, error) {
	e := ending{
		status: task.Failed, reason: reason, usage: &usage, outcome: "failed",
		data: []contract.EventData{contract.TurnFailed{Status: "failed", Error: reason, Usage: &usage}},
	}
	if err := o.closeCalls(ctx, &e, nil); err != nil {
		return false, err
	}
	done, err := o.end(ctx, e)
	if err == nil {
		o.sayFailed(ctx, "failed", reason)
	}
	return done, err
}

// end writes the end of a turn that was not stopped: with the session given up when nothing waits, kept when something does.
func (o *owner) end(ctx context.Context, e ending) (done bool, err error) {
	keep := o.state.Pending() > 0
	for {
		writes, p, events, t, err := o.endWrites(ctx, e, !keep)
		if err != nil {
			return false, err
		}
		change := o.state.EndRelease(o.me, p, e.outcome, o.Now())
		if keep && o.state.Mode == session.Chat {
			change = o.state.EndKeep(o.me, p, e.outcome, o.Now())
		}
		err = o.commitEnd(ctx, change, writes...)
		if err == nil {
			o.ended(ctx, events, e, t)
			return o.state.Owner == "", nil
		}
		old, exists, refused := store.RefusedState(err, o.id)
		if !refused || !exists || keep || !old.Mine(o.me.Owner, o.me.Fence) || old.Stopped() || old.TurnSeq != o.state.TurnSeq || old.Pending() == 0 {
			return false, err
		}
		keep = true // a message came at the last moment
	}
}

// endWrites are the rows that go with the end of a turn.
func (o *owner) endWrites(ctx context.Context, e ending, waits bool) ([]store.Write, session.Progress, []contract.SessionEvent, task.Task, error) {
	data := e.data
	switch {
	case o.state.Mode == session.TaskRun && e.outcome == "completed":
		data = append(data[:len(data):len(data)], contract.SessionCompleted{Result: e.output})
	case o.state.Mode == session.TaskRun:
		data = append(data[:len(data):len(data)], contract.SessionFailed{Error: e.reason})
	case waits:
		data = append(data[:len(data):len(data)], contract.SessionWaiting{})
	}
	events := o.events(o.state.TurnID(), data...)
	p := session.Progress{NextIndex: o.next + int64(len(events))}
	writes := append([]store.Write{o.eventsWrite(events)}, e.writes...)
	tip := o.state.Tip
	if e.segment != nil {
		p.Tip, tip = e.segment.ID, e.segment.ID
		writes = append(writes, store.NewSegment(o.id, *e.segment, o.Now()))
	}
	writes, err := o.point(ctx, writes, tip, e.segment)
	if err != nil {
		return nil, p, nil, task.Task{}, err
	}
	if o.state.Task == nil {
		return writes, p, events, task.Task{}, nil
	}
	t, err := o.boundTask(ctx, *o.state.Task)
	if err != nil || t == nil { // its run is over elsewhere: the turn ends as any other
		return writes, p, events, task.Task{}, err
	}
	change := t.FinishTurn(e.status, e.output, e.reason, o.Now())
	change.To.Usage = e.usage
	if o.state.Withheld {
		var more []store.Write
		change, more = withholdTask(*t, change)
		writes = append(writes, more...)
	}
	return append(writes, store.ChangeTask(change)), p, events, change.To, nil
}

// ended notes the end that was just written and tells of the task's.
func (o *owner) ended(ctx context.Context, events []contract.SessionEvent, e ending, t task.Task) {
	o.wrote(events)
	o.remember(e.segment)
	o.publish(ctx)
	o.log.InfoContext(ctx, "turn ended", append([]any{"turn", o.state.TurnID(), "outcome", e.word()}, e.used()...)...)
	o.tell(ctx, t)
	o.vacate(ctx)
}

// endFlagged ends a turn that was stopped or preempted: what tools have finished is kept, the rest of the calls is answered
// with an error, so that the history stays whole.
func (o *owner) endFlagged(ctx context.Context, finished []model.ToolResult, usage contract.Usage) (bool, error) {
	status, text := task.ReasonInterrupted, "turn interrupted"
	if o.state.Stopped() || !o.state.Preempted() {
		status, text = task.ReasonCancelled, "cancelled"
	}
	e := ending{status: task.Failed, reason: status, outcome: "failed"}
	if usage.Total() > 0 { // a turn may be stopped before it asked the model
		e.usage = &usage
	}
	e.data = []contract.EventData{contract.TurnFailed{Status: status, Error: text, Usage: e.usage}}
	if err := o.closeCalls(ctx, &e, finished); err != nil {
		return false, err
	}
	writes, p, events, t, err := o.endWrites(ctx, e, false)
	if err != nil {
		return false, err
	}
	if err := o.commitEnd(ctx, o.state.EndFlagged(o.me, p, o.Now()), writes...); err != nil {
		return false, err
	}
	o.ended(ctx, events, e, t)
	o.sayFailed(ctx, status, text)
	if o.state.Owner == "" {
		return true, nil
	}
	return false, errReload
}

// closeCalls adds to the turn's end what its history needs to be whole: the results of calls that it leaves open, or a note where
// an answer should stand. A turn that kills its workers ends without: loading
// its history may be what kills them.
func (o *owner) closeCalls(ctx context.Context, e *ending, finished []model.ToolResult) error {
	if o.state.Tries > session.MaxTries {
		return nil
	}
	h, err := o.load(ctx)
	if err != nil {
		return err
	}
	asked, writes, err := o.resolved(ctx, h, true)
	if err != nil {
		return err
	}
	e.writes = append(e.writes, writes...)
	open, data := answers(h.Messages, o.begun.with(finished))
	if len(open) > 0 { // what those that ended tagged stays tagged
		tagged, writes := o.files.tags()
		data, e.writes = append(tagged, data...), append(e.writes, writes...)
	}
	data = append(asked, data...)
	switch {
	case len(open) > 0:
		e.segment = o.segment(model.Message{Role: model.User, Content: open})
		e.data = append(data, e.data...)
	case len(h.Messages) > 0 && h.Messages[len(h.Messages)-1].Role == model.User:
		// Else the next prompt would join the one that got no answer, and the model would answer both.
		e.segment = o.segment(model.Text(model.Assistant, note(e.reason)))
	}
	return nil
}

// note is what stands in the history for an answer that was not given.
func note(reason string) string {
	switch reason {
	case task.ReasonCancelled:
		return "(stopped)"
	case task.ReasonInterrupted:
		return "(interrupted)"
	case task.ReasonBlocked:
		return loop.BlockedText
	}
	return "(no answer)"
}

// answers are the results that the history's last calls still need, as blocks and as events.
func answers(messages []model.Message, finished []model.ToolResult) (open []model.Block, data []contract.EventData) {
	calls, missing := openCalls(messages)
	if len(missing) == 0 {
		return nil, nil
	}
	byID := map[string]model.ToolResult{}
	for _, r := range finished {
		byID[r.ID] = r
	}
	for _, c := range missing {
		r, ok := byID[c.ID]
		if !ok {
			r = model.Interrupted(c.ID)
		}
		open = append(open, model.Block{ToolResult: &r})
		data = append(data, contract.ActionResult{ID: c.ID, Name: c.Name, Status: string(r.Status), Output: output(r)})
	}
	return open, append(data, contract.ActionsCompleted{IDs: callIDs(calls)})
}

// openCalls gives the calls of the last reply, if nothing but results came after it, and those of them without a result.
func openCalls(messages []model.Message) (calls, missing []model.ToolUse) {
	answered := map[string]bool{}
	for _, m := range slices.Backward(messages) {
		if m.Role == model.Assistant {
			calls = m.Calls()
			break
		}
		for _, b := range m.Content {
			if b.ToolResult == nil {
				return nil, nil
			}
			answered[b.ToolResult.ID] = true
		}
	}
	for _, c := range calls {
		if !answered[c.ID] {
			missing = append(missing, c)
		}
	}
	return calls, missing
}

func callIDs(calls []model.ToolUse) []string {
	ids := make([]string, len(calls))
	for i, c := range calls {
		ids[i] = c.ID
	}
	return ids
}

// sayFailed tells the followers that the turn ended without an answer.
func (o *owner) sayFailed(ctx context.Context, status, text string) {
	switch {
	case o.cast != nil && o.casting == o.state.TurnSeq:
		o.latecomers(ctx, o.cast)
	case o.took == o.state.TurnSeq:
		o.post(ctx)
		o.resume(ctx)
	default:
		o.post(ctx)
		o.cast.Start(new(o.state.Prompt - 1))
	}
	if status == task.ReasonBlocked { // by an owner before this one, perhaps
		o.cast.Withdraw(2)
	}
	o.cast.Fail(status, text, o.ids...)
}
