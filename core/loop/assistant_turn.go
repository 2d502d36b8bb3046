package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// turn runs one turn from the conversation as it is kept. show, if not nil, is called from this goroutine alone.
func (a Assistant) turn(ctx context.Context, tc tool.Context, request string, show func(model.Event)) (Answer, error) {
	if a.Model == nil || strings.TrimSpace(request) == "" {
		return Answer{}, fault.New(fault.Invalid, "an assistant needs a model and a request")
	}
	if a.Storage != nil && a.SessionID == "" {
		return Answer{}, fault.New(fault.Invalid, "a conversation that is kept needs a session id")
	}
	if a.MaxIterations < 0 {
		return Answer{}, fault.New(fault.Invalid, "maxIterations: must be at least 1")
	}
	d := &diary{storage: a.Storage, id: a.SessionID}
	if d.storage != nil {
		var err error
		if d.history, err = d.storage.Conversation(ctx, a.SessionID); err != nil {
			return Answer{}, fmt.Errorf("read the conversation %s: %w", a.SessionID, err)
		}
		d.began, d.answered = len(d.history.Messages), answered(d.history.Messages)
	}
	said := a.exchange(d, request)
	d.say(prompt(d.history.Messages, request))
	history := a.window(append(d.history.Messages[:len(d.history.Messages):len(d.history.Messages)], d.unsaved...))
	runner, v := a.runner(ctx, history, request), &voice{show: show}
	runner.Journal, runner.Watch = d, v.hear
	tc.Session, tc.Log = tool.Session{ID: a.SessionID}, a.Log
	out, err := runner.Run(ctx, tc.WithState(a.State), history)
	answer := Answer{StopReason: out.Stop, Limit: out.Limit, Usage: out.Usage, CostUSD: out.Usage.CostUSD(), Steps: out.Steps, State: a.State}
	if err != nil {
		return answer, err
	}
	if err := d.end(ctx, out); err != nil {
		return answer, err
	}
	answer.Output = out.Final.PlainText()
	a.remember(ctx, said, out)
	v.end(out)
	return answer, nil
}

// runner is the run of a turn; it is Once's, with the skills.
func (a Assistant) runner(ctx context.Context, history []model.Message, request string) Runner {
	once := Once{
		Model: a.Model, SystemPrompt: a.SystemPrompt, Tools: a.Tools, MaxIterations: a.MaxIterations, MaxTokens: a.MaxTokens,
		Temperature: a.Temperature, Log: a.Log,
	}
	r := once.runner()
	if a.Memory != nil {
		recalled, err := Recall(ctx, a.Memory, request)
		if err != nil {
			a.warn(ctx, "nothing is recalled", err)
		}
		r.Request.System = WithRecalled(r.Request.System, recalled)
	}
	if catalog := a.Skills.Catalog(0); catalog != "" {
		r.Request.System += "\n\n" + catalog
		r.Tools = append(r.Tools[:len(r.Tools):len(r.Tools)], a.Skills.Tools(skill.NewActive(history))...)
	}
	return r
}

// window is the newest part of what was said that the model is sent.
func (a Assistant) window(history []model.Message) []model.Message {
	switch {
	case a.Window < 0:
		return history
	case a.Window == 0:
		a.Window = DefaultWindow
	}
	return snapshot.Trim(history, snapshot.Limits{Bytes: a.Window})
}

// exchange is the turn as a memory notes it, numbered within its conversation.
func (a Assistant) exchange(d *diary, request string) Exchange {
	x := Exchange{Number: int64(len(d.history.Messages)) + 1, At: time.Now(), User: request}
	if d.storage == nil { // a conversation of its own
		x.Number = x.At.UnixMilli()
	}
	return x
}

// remember records a turn that was answered.
func (a Assistant) remember(ctx context.Context, x Exchange, out Outcome) {
	if a.Memory == nil || out.Stop == "" || blocked(out) {
		return
	}
	x.Assistant = out.Final.PlainText()
	if err := Record(ctx, a.Memory, x); err != nil {
		a.warn(ctx, "the turn is not remembered", err)
	}
}

func (a Assistant) warn(ctx context.Context, text string, err error) {
	if a.Log != nil {
		a.Log.WarnContext(ctx, text, "session", a.SessionID, "error", err)
	}
}

func blocked(out Outcome) bool {
	return out.Stop == model.StopGuardrail || out.Stop == model.StopFiltered
}

// prompt is what the user says, after an error result for each call that the turn before left open.
func prompt(history []model.Message, request string) model.Message {
	m := model.Message{Role: model.User}
	for _, c := range unanswered(history) {
		r := model.Interrupted(c.ID)
		m.Content = append(m.Content, model.Block{ToolResult: &r})
	}
	m.Content = append(m.Content, model.Block{Text: request})
	return m
}

// diary keeps a turn step by step.
type diary struct {
	storage Storage
	id      string
	history snapshot.History
	unsaved []model.Message

	began    int // messages before the turn
	answered int // of them up to the last answer
}

// answered is how many messages there are up to the last answer. What comes after it is of turns that broke off.
func answered(messages []model.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == model.Assistant && len(m.Calls()) == 0 {
			return i + 1
		}
	}
	return 0
}

func (d *diary) say(m model.Message) { d.unsaved = append(d.unsaved, m) }

func (d *diary) keep(ctx context.Context) error {
	if d.storage == nil || len(d.unsaved) == 0 {
		return nil
	}
	h, err := d.storage.Extend(ctx, d.id, d.history, d.unsaved...)
	if err != nil {
		return fmt.Errorf("keep the conversation %s: %w", d.id, err)
	}
	d.history, d.unsaved = h, nil
	return nil
}

// SaveCalls keeps a reply that calls tools, and before it what it answers.
func (d *diary) SaveCalls(ctx context.Context, _ int, reply model.Reply) error {
	d.say(reply.Message)
	return d.keep(ctx)
}

// MayRun lets every call run: nobody else runs the turn.
func (d *diary) MayRun(context.Context, model.ToolUse) error { return nil }

// SaveResults keeps the results of a step.
func (d *diary) SaveResults(ctx context.Context, _ int, results []model.ToolResult, _ []time.Duration) error {
	m := model.Message{Role: model.User}
	for _, r := range results {
		m.Content = append(m.Content, model.Block{ToolResult: &r})
	}
	d.say(m)
	return d.keep(ctx)
}

// Boundary has nothing to add: nobody speaks in the middle of the turn.
func (d *diary) Boundary(context.Context) ([]model.Block, error) { return nil, nil }

// end keeps the answer. A turn that a filter blocked leaves nothing: what it blocked would block every turn to come. Nor do those before it
// that broke off: the model may have refused their words.
func (d *diary) end(ctx context.Context, out Outcome) error {
	if blocked(out) {
		if len(d.history.Messages) == d.answered {
			return nil
		}
		if w, ok := d.storage.(Withdrawer); ok {
			err := w.Withdraw(ctx, d.id, d.history, d.answered)
			return fault.Wrap(fault.CodeOf(err), err, "take back what was blocked of %s", d.id)
		}
		if len(d.history.Messages) == d.began {
			return nil
		}
	}
	if len(out.Final.Content) > 0 {
		d.say(out.Final)
	}
	return d.keep(ctx)
}

// voice tells a run as the events of a model's stream.
type voice struct {
	show  func(model.Event) // nil: nobody listens
	shown strings.Builder   // text of the reply under way
	any   bool              // its attempt has shown something
	usage model.Usage       // of the last model call
}

// hear takes one event of the run. Only events of model calls are told, which come from the run's own goroutine.
func (v *voice) hear(e Event) {
	if v.show == nil {
		return
	}
	switch e := e.(type) {
	case Attempt:
		v.any = false
	case Text:
		v.any = true
		v.shown.WriteString(e.Delta)
		v.show(model.TextDelta{Text: e.Delta})
	case Reasoning:
		v.any = true
		v.show(model.ReasoningDelta{Text: e.Delta})
	case ToolUse:
		v.any = true
		v.show(model.ToolStart{ID: e.ID, Name: e.Name})
	case Reset:
		if v.shown.Reset(); v.any {
			v.show(model.Reset{Attempt: e.Attempt + 1})
		}
	case Replied:
		v.replied(e)
	}
}

// replied ends a model call that asks for tools. The last call's end waits until the turn is kept.
func (v *voice) replied(e Replied) {
	v.usage = e.Usage
	if len(e.Message.Calls()) == 0 {
		return
	}
	v.show(model.Stop{Reason: model.StopToolUse})
	v.show(model.UsageReport{Usage: e.Usage})
	v.shown.Reset()
	v.usage = model.Usage{}
}

// end tells the rest of the answer, which is no model's where a limit or a filter ended the turn, and that it has ended.
func (v *voice) end(out Outcome) {
	if v.show == nil {
		return
	}
	if rest, ok := strings.CutPrefix(out.Final.PlainText(), v.shown.String()); ok && rest != "" {
		v.show(model.TextDelta{Text: rest})
	}
	reason := out.Stop
	if reason == "" || reason == model.StopToolUse { // a limit of the run; a call that never came
		reason = model.EndTurn
	}
	v.show(model.Stop{Reason: reason})
	if v.usage != (model.Usage{}) {
		v.show(model.UsageReport{Usage: v.usage})
	}
}
