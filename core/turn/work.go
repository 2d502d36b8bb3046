package turn

import (
	"context"
	"errors"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// work runs the open turn from where it stands to its end.
func (o *owner) work(ctx context.Context) (done bool, err error) {
	if waits, err := o.enter(ctx); waits || err != nil {
		return err == nil, err
	}
	setup, err := o.setup(ctx)
	if err != nil {
		return false, err
	}
	if o.state.Task != nil && setup.task == nil { // its run is over elsewhere: so is the turn
		return o.endFlagged(ctx, nil, o.spent())
	}
	h, err := o.load(ctx)
	if err != nil {
		return false, err
	}
	view := o.newView(ctx, h)
	running, stop := o.keepLease(ctx)
	giveBack, err := o.lend(running, &setup)
	defer giveBack()
	if err == nil {
		o.recall(running, &setup, h.Messages)
		h, err = o.fit(running, setup, h)
	}
	if err != nil {
		if flag := stop(); flag != nil {
			err = flag
		}
		return o.finish(ctx, view, loop.Outcome{Usage: modelUsage(o.total())}, err)
	}
	if err := o.tellResolved(ctx, h); err != nil {
		stop()
		return false, err
	}
	o.active.Reset(h.Messages)
	if o.files == nil || o.files.turn != o.state.TurnSeq {
		o.files = o.fileRows()
	}
	runner := loop.Runner{
		Model: o.Model, Request: setup.request, Tools: setup.tools, Limits: o.limits(), Journal: &journal{owner: o, view: view, setup: setup},
		Spent: loop.Spent{Steps: int(o.state.Step+1) / 2, Usage: modelUsage(o.total())}, // a step is saved twice: its calls, then their results
		Watch: func(e loop.Event) { view.show(running, e) }, Sleep: o.Sleep, Log: o.log, CallPrefix: o.callPrefix(h),
	}
	out, err := runner.Run(running, o.toolContext(running, setup), h.Messages)
	flag := stop()
	if err == nil && view.err != nil {
		err = view.err
	}
	if flag != nil && err != nil {
		err = flag
	}
	return o.finish(ctx, view, out, err)
}

// finish turns what the run came to into the end of the turn, or into a reason to read again.
func (o *owner) finish(ctx context.Context, view *view, out loop.Outcome, err error) (bool, error) {
	usage := contract.UsageOf(out.Usage)
	o.used = used{o.state.TurnSeq, spentOf(out.Usage)}
	switch {
	case err == nil && blocked(out):
		return o.withhold(ctx, view, out)
	case err == nil:
		return o.endCompleted(ctx, view, out, usage)
	case errors.Is(err, errFlagged):
		view.flush(ctx) // what was shown is kept
		if err := o.reload(ctx); err != nil {
			return false, err
		}
		if !o.state.Stopped() && !o.state.Preempted() {
			return false, errReload
		}
		return o.endFlagged(ctx, out.Finished, usage)
	case errors.Is(err, errParked):
		return true, nil
	case errors.Is(err, errReload), errors.Is(err, errLost):
		return false, err
	case errors.Is(err, errHandOff):
		return false, o.keepFinished(ctx, out.Finished, view)
	case errors.Is(err, errPlace):
		o.vacate(ctx)
		if err := o.keepFinished(ctx, out.Finished, view); !errors.Is(err, errHandOff) {
			return false, err
		}
		return false, errReload
	case ctx.Err() != nil: // the invocation itself ends
		return false, errHandOff
	case fault.ReasonOf(err) == contextFull && o.once():
		return false, errReload // and is made shorter then
	}
	o.log.WarnContext(ctx, "turn failed", "turn", o.state.TurnID(), "error", err)
	return o.endFailed(ctx, fault.Public(err), usage)
}

// keepFinished saves the results of tools that had ended when the others of their step were cut: they do not run again.
func (o *owner) keepFinished(ctx context.Context, finished []model.ToolResult, v *view) error {
	if len(finished) == 0 || v.err != nil {
		return errHandOff
	}
	message := model.Message{Role: model.User}
	var data []contract.EventData
	for _, r := range finished {
		message.Content = append(message.Content, model.Block{ToolResult: &r})
		data = append(data, contract.ActionResult{ID: r.ID, Name: v.names[r.ID], Status: string(r.Status), Output: output(r)})
	}
	v.settleText()
	s := o.segment(message)
	h, err := o.load(ctx)
	if err != nil {
		return err
	}
	tagged, writes := o.files.tags()
	data = append(data, tagged...)
	if calls, missing := openCalls(h.Messages); len(missing) == len(finished) { // only the save was cut
		data = append(data, contract.ActionsCompleted{IDs: callIDs(calls)}, v.stepDone(v.step))
		return errors.Join(o.saveWith(ctx, s, session.Spent{}, writes, data...), errHandOff)
	}
	events := o.events(o.state.TurnID(), data...)
	p := session.Progress{Tip: s.ID, NextIndex: o.next + int64(len(events)), Spent: o.spend(session.Spent{})}
	err = o.commit(ctx, o.state.SavePart(o.me, p, o.Now()), true, append(writes, o.eventsWrite(events), store.NewSegment(o.id, *s, o.Now()))...)
	if err != nil {
		return err
	}
	o.files.told()
	o.wrote(events)
	o.remember(s)
	return errHandOff
}

func (o *owner) toolContext(ctx context.Context, s setup) tool.Context {
	tc := tool.Context{
		Context: ctx, Principal: o.state.Principal, Session: tool.Session{ID: o.id, Channel: o.state.Channel, ContinuationToken: o.state.ChannelKey}, Log: o.log,
		Files: o.workspace(o.files, o.Workspace),
	}
	if s.task != nil {
		tc.TaskID = s.task.TaskID
	}
	tc.Reminders = o.reminders()
	return tc
}

// journal makes the steps of the run durable.
type journal struct {
	*owner
	view  *view
	setup setup
	asks  int // calls of the step that wait for people: a step in which one does is the run's last
}

// SaveCalls keeps a reply that asks for tools.
func (j *journal) SaveCalls(ctx context.Context, _ int, reply model.Reply) error {
	calls := make([]contract.ActionCall, 0, 1)
	for _, c := range reply.Message.Calls() {
		calls = append(calls, contract.ActionCall{ID: c.ID, Name: c.Name, Input: c.Input})
	}
	data := append(j.view.said(), contract.ActionsRequested{Calls: calls})
	err := j.save(ctx, j.segment(reply.Message), spentOf(reply.Usage), data...)
	j.asking = err != nil
	return err
}

// MayRun refuses when the lease may be over, or when an earlier write of the view told so. It marks a call that must not run twice.
func (j *journal) MayRun(ctx context.Context, call model.ToolUse) error {
	if !j.mayAct() {
		return errLost
	}
	if j.view.err != nil {
		return j.view.err
	}
	if result := j.begun[call.ID]; result != nil { // only its save was lost
		return &loop.Answered{Result: *result}
	}
	spec := j.setup.spec(call)
	if !spec.RequireApproval && !spec.RunsOnce(call.Input) {
		return nil
	}
	return j.mark(ctx, call, spec.RequireApproval && !j.approvedBySkill(ctx, call))
}

// SaveResults keeps the results of a step.
func (j *journal) SaveResults(ctx context.Context, step int, results []model.ToolResult, took []time.Duration) error {
	h, err := j.load(ctx)
	if err != nil {
		return errors.Join(errReload, err)
	}
	calls, _ := openCalls(h.Messages)
	message := model.Message{Role: model.User}
	data := make([]contract.EventData, 0, len(results)+2)
	for i, r := range results {
		message.Content = append(message.Content, model.Block{ToolResult: &r})
		data = append(data, contract.ActionResult{
			ID: r.ID, Name: j.view.names[r.ID], Status: string(r.Status), Output: output(r), DurationMs: took[i].Milliseconds(),
		})
	}
	tagged, writes := j.files.tags()
	data = append(append(data, tagged...), contract.ActionsCompleted{IDs: callIDs(calls)}, j.view.stepDone(step))
	return j.saveWith(ctx, j.segment(message), j.view.takeDelegated(), writes, data...)
}

// Boundary takes what came in meanwhile and may join the running turn.
func (j *journal) Boundary(ctx context.Context) ([]model.Block, error) {
	if j.view.err != nil {
		return nil, j.view.err
	}
	if over, err := j.over(ctx, j.setup); over || err != nil {
		return nil, errors.Join(errReload, err)
	}
	s, err := j.Table.State(ctx, j.id)
	switch {
	case err != nil:
		return nil, errors.Join(errReload, err)
	case !s.Mine(j.me.Owner, j.me.Fence):
		return nil, errLost
	case s.Stopped() || s.Preempted():
		return nil, errFlagged
	case s.Admitted == s.Taken || s.Task != nil:
		return nil, nil
	}
	j.state.Admitted = s.Admitted
	inbox, err := j.Table.Inbox(ctx, j.id, s.Taken+1, min(s.Admitted, s.Taken+inboxPage))
	if err != nil {
		return nil, errors.Join(errReload, err)
	}
	return j.take(ctx, inbox)
}

func (j *journal) take(ctx context.Context, inbox []store.Message) ([]model.Block, error) {
	upTo := j.state.TakesAtBoundary(waiting(inbox))
	if upTo == j.state.Taken {
		return nil, nil
	}
	taken := inbox[:upTo-j.state.Taken]
	data := make([]contract.EventData, len(taken))
	var writes []store.Write
	for i, m := range taken {
		data[i] = contract.NudgeDelivered{Text: m.Text, DeliveryID: m.DeliveryID, Files: filesOf(m)}
		writes = append(writes, store.TakeMessage(j.id, m.Number))
	}
	said, err := j.said(ctx, taken, nil)
	if err != nil {
		return nil, errors.Join(errReload, err)
	}
	s := j.segment(model.Message{Role: model.User, Content: said})
	events := j.events(j.state.TurnID(), data...)
	writes = append(writes, j.eventsWrite(events), store.NewSegment(j.id, *s, j.Now()))
	p := session.Progress{Tip: s.ID, NextIndex: j.next + int64(len(events))}
	if err := j.commit(ctx, j.state.Take(j.me, upTo, p, j.Now()), true, writes...); err != nil {
		return nil, err
	}
	j.wrote(events)
	j.remember(s)
	j.publish(ctx)
	j.ids = append(j.ids, deliveryIDs(taken)...)
	if j.history != nil {
		j.active.Reset(j.history.Messages)
	}
	return said, nil
}

// save writes one step of the open turn: its piece of history, its events and what it used.
func (o *owner) save(ctx context.Context, s *snapshot.Segment, used session.Spent, data ...contract.EventData) error {
	return o.saveWith(ctx, s, used, nil, data...)
}

// saveWith is save with more rows.
func (o *owner) saveWith(ctx context.Context, s *snapshot.Segment, used session.Spent, writes []store.Write, data ...contract.EventData) error {
	events := o.events(o.state.TurnID(), data...)
	p := session.Progress{Tip: s.ID, NextIndex: o.next + int64(len(events)), Spent: o.spend(used)}
	err := o.commit(ctx, o.state.Save(o.me, p, o.Now()), true, append(writes, o.eventsWrite(events), store.NewSegment(o.id, *s, o.Now()))...)
	if err != nil {
		return err
	}
	o.wrote(events)
	o.remember(s)
	o.publish(ctx)
	return nil
}
