package turn

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// flushEvery is how long pieces of an answer gather before they are written to the log.
const flushEvery = 250 * time.Millisecond

// view shows a run as it goes: pieces to the sockets at once, to the log in rows of many.
type view struct {
	*owner
	turnID    string            // of the turn that is shown: tools that retry come from goroutines of their own
	names     map[string]string // tools by call id
	delta     strings.Builder   // text that is not in the buffer yet
	thought   strings.Builder   // reasoning, likewise; one of both is empty
	flushed   time.Time
	attempt   int
	step      int
	started   time.Time // of the step
	reply     loop.Replied
	delegated model.Usage // of subagents, not saved yet
	err       error       // why the log can go no further
}

// newView begins to show the turn whose history is h.
func (o *owner) newView(ctx context.Context, h snapshot.History) *view {
	o.openSockets(ctx)
	v := &view{owner: o, turnID: o.state.TurnID(), names: map[string]string{}, flushed: o.Now()}
	calls, _ := openCalls(h.Messages)
	for _, c := range calls { // of an earlier run: not all of them will start in this one
		v.names[c.ID] = c.Name
	}
	return v
}

// show takes one event of the run. The run calls it from one goroutine at a time.
func (v *view) show(ctx context.Context, e loop.Event) {
	switch e := e.(type) {
	case loop.StepStarted:
		clear(v.begun) // the results of the step before are saved, and so is what it tagged
		v.files.told()
		v.step, v.started, v.reply = e.Step, v.Now(), loop.Replied{}
		v.append(contract.StepStarted{Step: e.Step})
		v.asking = true
		v.cast.Step()
	case loop.Attempt:
		v.attempt = e.N
	case loop.Text:
		v.text(ctx, e.Delta)
	case loop.Reasoning:
		v.reasoning(ctx, e.Delta)
	case loop.ToolUse:
		v.names[e.ID] = e.Name
		v.cast.ToolUse(e.Name, e.ID)
	case loop.Reset:
		if ctx.Err() != nil {
			return // nothing is asked again: what was shown stands
		}
		v.delta.Reset()
		v.thought.Reset()
		v.cast.Reset(e.Attempt + 1)
	case loop.Replied:
		v.reply = e
		for _, c := range e.Message.Calls() {
			v.names[c.ID] = c.Name
		}
	case loop.ToolStarted:
		v.names[e.Call.ID] = e.Call.Name
	case loop.ToolFinished:
		v.noted(e.Result.ID, &e.Result)
	case loop.SubagentStarted:
		v.append(contract.SubagentCalled{ID: e.ID, Name: e.Name, Depth: e.Depth, Request: tool.Cut(e.Request, maxTold)})
	case loop.SubagentEnded:
		v.subagentEnded(e)
	case loop.ToolRetry:
		v.append(contract.ActionToolRetry{ID: e.Call.ID, Name: e.Call.Name, Attempt: e.Try, Error: fault.Public(e.Err)})
	}
}

// maxTold is how much of a subagent's request the log tells, in bytes.
const maxTold = 4000

// subagentEnded tells what a subagent came to. What it used is saved with the results of its step.
func (v *view) subagentEnded(e loop.SubagentEnded) {
	done := contract.SubagentCompleted{
		ID: e.ID, Name: e.Name, Status: string(model.Success), Steps: e.Steps, DurationMs: e.Took.Milliseconds(), Usage: contract.UsageOf(e.Usage),
	}
	if e.Err != nil {
		done.Status, done.Error = string(model.Failure), fault.Public(e.Err)
	}
	v.append(done)
	if e.Depth == 1 { // those below are counted in it
		v.delegated = v.delegated.Add(e.Usage)
	}
}

// takeDelegated gives what subagents used since it was last asked.
func (v *view) takeDelegated() session.Spent {
	used := spentOf(v.delegated)
	v.delegated = model.Usage{}
	return used
}

func (v *view) text(ctx context.Context, delta string) {
	v.settleThought()
	index := v.next + int64(len(v.buffer))
	v.delta.WriteString(delta)
	v.cast.Text(delta, &index)
	v.flushInTime(ctx)
}

// reasoning goes to the log alone: sockets show none.
func (v *view) reasoning(ctx context.Context, delta string) {
	if v.thought.Len() == 0 {
		v.settleText()
	}
	v.thought.WriteString(delta)
	v.flushInTime(ctx)
}

func (v *view) flushInTime(ctx context.Context) {
	if v.Now().Sub(v.flushed) >= flushEvery {
		v.flush(ctx)
	}
}

// append puts an event into the buffer, after the text before it.
func (v *view) append(data contract.EventData) {
	v.settleText()
	v.put(data)
}

func (v *view) put(data contract.EventData) {
	v.buffer = append(v.buffer, flow.Event(v.id, v.turnID, v.next+int64(len(v.buffer)), v.Now(), data))
}

// settleText makes one event of the gathered text, or reasoning.
func (v *view) settleText() {
	v.settleThought()
	if v.delta.Len() > 0 {
		v.put(contract.MessageAppended{Delta: v.delta.String(), Attempt: v.again()})
		v.delta.Reset()
	}
}

func (v *view) settleThought() {
	if v.thought.Len() > 0 {
		v.put(contract.ReasoningAppended{Delta: v.thought.String(), Attempt: v.again()})
		v.thought.Reset()
	}
}

// again is the number of a repeated attempt; 0 for the first.
func (v *view) again() int {
	if v.attempt > 1 {
		return v.attempt
	}
	return 0
}

// flushTime is how long a row may be on its way to the log, whether or not the run has ended: who follows has seen what it says.
const flushTime = 5 * time.Second

// flush writes the buffer as a row of its own, also when the run ends meanwhile. No write of STATE: the row is refused where another
// owner has written.
func (v *view) flush(ctx context.Context) {
	v.settleText()
	v.flushed = v.Now()
	if v.err != nil || len(v.buffer) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	err := v.Table.Commit(ctx, v.eventsWrite(v.buffer))
	if err != nil {
		err = v.settle(ctx)
	}
	if err != nil {
		v.err = errors.Join(errReload, err)
		return
	}
	v.wrote(v.buffer)
}

// settle finds out whether a row that was refused or whose answer was lost is this owner's after all.
func (v *view) settle(ctx context.Context) error {
	row, err := v.Table.EventRow(ctx, v.id, v.buffer[0].Index)
	if err == nil && row.Owner == v.me.Owner && row.Fence == v.me.Fence && row.Count == int64(len(v.buffer)) {
		return nil
	}
	return errors.Join(errReload, err)
}

// said is what the step's reply adds to the log: the rest of its text, reasoning and the finalized message.
func (v *view) said() []contract.EventData {
	v.settleText()
	var data []contract.EventData
	for _, b := range v.reply.Message.Content {
		if b.Reasoning != nil && b.Reasoning.Text != "" {
			data = append(data, contract.ReasoningCompleted{Text: b.Reasoning.Text})
		}
	}
	if text := v.reply.Message.PlainText(); text != "" {
		data = append(data, contract.MessageCompleted{Text: text})
	}
	return data
}

// last is what the end of the turn adds to the log: the rest of its last reply. Words that stand in for a reply, because a limit ended the
// turn or it was cut before there was any text, are shown as one: followers know them from nowhere else.
func (v *view) last(ctx context.Context, out loop.Outcome) []contract.EventData {
	limited, text := out.Limit == loop.LimitSteps || out.Limit == loop.LimitTokens, out.Final.PlainText()
	if limited || text == loop.CutText {
		v.text(ctx, text)
	}
	if limited { // the step has ended with its calls
		v.settleText()
		return []contract.EventData{contract.MessageCompleted{Text: text}}
	}
	return append(v.said(), v.stepDone(v.step))
}

func (v *view) stepDone(step int) contract.StepCompleted {
	u := v.reply.Usage
	done := contract.StepCompleted{Step: step, Usage: contract.UsageOf(u)}
	if !v.started.IsZero() {
		done.DurationMs = v.Now().Sub(v.started).Milliseconds()
	}
	return done
}

// output is a tool's result as JSON: what it said as text or as a document, or the list of its parts.
func output(r model.ToolResult) json.RawMessage {
	if len(r.Content) == 1 && r.Content[0].JSON != nil {
		return r.Content[0].JSON
	}
	if len(r.Content) == 1 && r.Content[0].Raw == nil {
		raw, _ := json.Marshal(r.Content[0].Text)
		return raw
	}
	raw, err := json.Marshal(r.Content)
	if err != nil {
		return json.RawMessage(`null`)
	}
	return raw
}
