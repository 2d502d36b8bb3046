package turn

import (
	"context"
	"fmt"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// inboxPage is how many waiting messages are looked at together.
const inboxPage = 90

// opening is a begin under way.
type opening struct {
	session.Opening
	cancelled, prompt []store.Message
	task              *task.Task // the task whose message is taken, if its run is still this one
	unknown           []string   // names of tools that nobody has
}

// beforeItBegan is why no turn answers a message that was cancelled while it waited.
const beforeItBegan = "stopped before it began"

// notice names what stands in the log for the messages that no turn answers.
func (open opening) notice() string {
	return fmt.Sprintf("cancelled_%d_%d", open.From+1, open.Cancelled)
}

// begin takes what waits: a notice for what was cancelled, a turn for the rest.
func (o *owner) begin(ctx context.Context) (done bool, err error) {
	open, err := o.plan(ctx)
	if err != nil {
		return false, err
	}
	if open.Opens() && len(open.cancelled) == 0 {
		if waits, err := o.enter(ctx); waits || err != nil {
			return err == nil, err
		}
	} else if open.Opens() && len(o.places) == 0 && o.Capacity != (Capacity{}) {
		open = open.notices() // they need no place
	}
	return false, o.open(ctx, open)
}

// notices is the part of an opening that opens nothing.
func (open opening) notices() opening {
	open.To, open.prompt = open.Cancelled, nil
	return open
}

// open writes a begin.
func (o *owner) open(ctx context.Context, open opening) (err error) {
	if open.Opens() {
		if err := o.reportSkills(ctx); err != nil {
			return err
		}
	}
	if open.Opens() {
		if open.unknown, err = o.unknownTools(ctx, open.task); err != nil {
			return err
		}
	}
	turnID := fmt.Sprintf("turn_%d", open.To)
	events := o.openingEvents(open, turnID)
	p := session.Progress{NextIndex: o.next + int64(len(events)), Prompt: o.next + int64(len(events)) - 1}
	var writes []store.Write
	var segment *snapshot.Segment
	if open.Opens() {
		if segment, err = o.openingSegment(ctx, open); err != nil {
			return err
		}
		p.Tip = segment.ID
		writes = append(writes, store.NewSegment(o.id, *segment, o.Now()))
	}
	writes = append(writes, o.eventsWrite(events))
	for n := open.From + 1; n <= open.To; n++ {
		writes = append(writes, store.TakeMessage(o.id, n))
	}
	told := task.Task{}
	if open.task != nil {
		change := open.task.OpenTurn(open.To)
		if !open.Opens() {
			change = open.task.FinishTurn(task.Failed, "", task.ReasonCancelled, o.Now())
			told = change.To
		}
		writes = append(writes, store.ChangeTask(change))
	}
	change := o.state.Begin(o.me, open.Opening, p, o.Now())
	if open.Opens() {
		if writes, err = o.keepBeside(ctx, change, writes); err != nil {
			return err
		}
	}
	if err := o.commit(ctx, change, true, writes...); err != nil {
		return err
	}
	o.wrote(events)
	o.remember(segment)
	o.publish(ctx)
	o.tell(ctx, told)
	o.sayCancelled(ctx, open)
	if !open.Opens() {
		o.vacate(ctx) // it may have left the line
		return nil
	}
	o.log.InfoContext(ctx, "turn begun", "turn", turnID, "messages", len(open.prompt))
	o.ids = deliveryIDs(open.prompt)
	return nil
}

func (o *owner) plan(ctx context.Context) (opening, error) {
	s := o.state
	inbox, err := o.Table.Inbox(ctx, o.id, s.Taken+1, min(s.Admitted, s.Taken+inboxPage))
	if err != nil {
		return opening{}, err
	}
	if len(inbox) == 0 || inbox[0].Number != s.Taken+1 {
		return opening{}, errReload // a deletion is under way
	}
	open := opening{}
	over := false
	if ref := inbox[0].Task; ref != nil {
		if open.task, err = o.boundTask(ctx, *ref); err != nil {
			return opening{}, err
		}
		over = open.task == nil
	}
	if open.Opening, err = s.Plan(waiting(inbox), over); err != nil {
		return opening{}, fault.Wrap(fault.Internal, err, "begin")
	}
	for _, m := range inbox {
		switch {
		case m.Number <= open.Cancelled:
			open.cancelled = append(open.cancelled, m)
		case m.Number <= open.To:
			open.prompt = append(open.prompt, m)
		}
	}
	return open, nil
}

// boundTask reads the task that a message or turn belongs to; nil when its run is not this session's any more.
func (o *owner) boundTask(ctx context.Context, ref session.TaskRef) (*task.Task, error) {
	t, err := o.Table.TaskOrNone(ctx, ref.ID)
	if err != nil || t.Status != task.Running || t.Fence != ref.Fence || t.Session != o.id {
		return nil, err
	}
	return &t, nil
}

func waiting(inbox []store.Message) []session.Waiting {
	list := make([]session.Waiting, len(inbox))
	for i, m := range inbox {
		list[i] = m.Waiting()
	}
	return list
}

func (o *owner) openingEvents(open opening, turnID string) []contract.SessionEvent {
	if len(open.cancelled) > 0 {
		o.buffer = o.events(open.notice(),
			contract.MessageReceived{Text: texts(open.cancelled), DeliveryIDs: deliveryIDs(open.cancelled)},
			contract.TurnFailed{Status: task.ReasonCancelled, Error: beforeItBegan})
	}
	switch {
	case open.Opens():
		started := contract.TurnStarted{UnknownTools: open.unknown}
		if open.Task != nil {
			started.TaskID = open.Task.ID
		}
		return o.events(turnID, started, contract.MessageReceived{Text: texts(open.prompt), DeliveryIDs: deliveryIDs(open.prompt), Files: filesOf(open.prompt...)})
	case o.state.Mode == session.TaskRun:
		return o.events("", contract.SessionFailed{Error: task.ReasonCancelled})
	}
	return o.events("")
}

func texts(messages []store.Message) string {
	all := make([]string, len(messages))
	for i, m := range messages {
		all[i] = m.Text
	}
	return strings.Join(all, "\n\n")
}

func deliveryIDs(messages []store.Message) []string {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.DeliveryID
	}
	return ids
}

// blocks are the messages as a user says them to the model.
func blocks(messages []store.Message) []model.Block {
	all := make([]model.Block, len(messages))
	for i, m := range messages {
		all[i] = model.Block{Text: m.Text}
	}
	return all
}

// tell announces a task that has just ended; a failure leaves it to the sweep.
func (o *owner) tell(ctx context.Context, t task.Task) {
	if t.CompletionOwed == 0 {
		return
	}
	if err := o.Announce(ctx, t); err != nil {
		o.log.WarnContext(ctx, "the completion was not published, the sweep will", "task", t.TaskID, "error", err)
	}
}
