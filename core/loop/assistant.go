package loop

import (
	"context"
	"errors"
	"iter"
	"log/slog"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Assistant holds conversations in your own program, without the functions: a value that may be copied and used by many goroutines. Only
// Model is required. With SessionID and Storage a conversation goes on from call to call and from process to process; without
// them each call is a conversation of its own.
//
// What a turn has said is kept step by step: a reply that calls tools before they run, their results before the model sees them,
// the answer before the client is told that it is complete. Until its first step is kept a turn leaves nothing behind, so that the
// same words may be said again; after that a turn that broke off shows in the history as interrupted calls. Two turns of one
// session at the same time exclude each other: the one that is later to write ends with fault.Conflict.
//
// The model is sent the newest part of a conversation that fits into Window; what is left out of the request stays in Storage.
//
// What Memory recalls goes before the user's words and into no message; a turn that was answered is recorded, and safe, before the
// client is told that it is complete. A memory that fails fails no turn. Tools that require an approval are not run: there is nobody
// to ask.
type Assistant struct {
	SessionID     string
	Model         Model
	SystemPrompt  string // default DefaultSystemPrompt
	Tools         []tool.Tool
	Skills        skill.Set // their catalogue joins the system prompt, their tools Tools
	Memory        Memory    // of the verified user, across conversations; nil: none. memory.Search gives its tool
	Storage       Storage   // nil: nothing is kept
	Window        int       // bytes of conversation that a model is sent, about three to a token; default DefaultWindow, -1: all
	MaxIterations int       // model calls of a turn; default 25
	MaxTokens     int       // of each reply; default the model's own if it is Defaulted, else DefaultMaxTokens
	Temperature   *float64  // default as that of MaxTokens, DefaultTemperature; new(0.0) is a real zero
	State         any       // trusted values for the tools, read with tool.State; the model never sees them
	Principal     task.Principal
	Log           *slog.Logger // nil: discard
}

// DefaultWindow is how many bytes of a conversation an Assistant sends when it says nothing else: about 100,000 tokens.
const DefaultWindow = 300_000

// Storage keeps conversations that their caller runs itself. A store.Table is one. It must be safe for concurrent use.
type Storage interface {
	// Conversation gives the history; the zero one when nothing was said. Faults: Conflict when somebody else runs the session.
	Conversation(ctx context.Context, sessionID string) (snapshot.History, error)
	// Extend appends messages to a history as it was given last, all or none, and gives the longer one. Faults: Conflict when it
	// is not the session's newest any more, Unavailable when it is not known whether they were written.
	Extend(ctx context.Context, sessionID string, h snapshot.History, said ...model.Message) (snapshot.History, error)
}

// Withdrawer is a Storage that can take back what was said. A store.Table is one. Where a Storage is none, a turn that a content filter blocks
// after its first step was kept stays, and what it said may have every turn to come blocked.
type Withdrawer interface {
	// Withdraw removes all but the first keep messages of a history as it was given last, from the session and from what is stored,
	// or nothing. Faults: as Extend.
	Withdraw(ctx context.Context, sessionID string, h snapshot.History, keep int) error
}

// HandleMessage runs one turn and speaks it to a client as it comes: StreamTurn's messages, a reset where a failed attempt had
// shown something. A failing send never fails the turn, and nil is nobody. When the complete message is sent, the turn is kept.
//
// Faults: Invalid (no model, no request, a storage without a session, a negative MaxIterations), Conflict (another turn has
// written, or the functions run the session), Limit (the conversation is too long for the model), the model's own after three
// tries, the storage's.
func (a Assistant) HandleMessage(ctx context.Context, request string, send Send) (Answer, error) {
	if send == nil {
		return a.HandleTask(ctx, request)
	}
	var answer Answer
	_, err := StreamTurn(ctx, a.stream(ctx, request, &answer), a.SessionID, send)
	return answer, err
}

// HandleTask is HandleMessage without a client.
func (a Assistant) HandleTask(ctx context.Context, request string) (Answer, error) {
	return a.turn(ctx, tool.Context{Principal: a.Principal}, request, nil)
}

// RunTask is HandleTask for a flow.RunTask, which wants the text and what the run used. A turn that a limit cut short ends with what
// there is.
func (a Assistant) RunTask(ctx context.Context, request string) (output string, used *task.Usage, err error) {
	answer, err := a.HandleTask(ctx, request)
	return answer.Output, new(contract.UsageOf(answer.Usage)), err
}

// Stream runs one turn and yields its events: those of each model call in order, the last Stop when the turn is kept. A
// model.Reset voids what the reply has shown. An error ends the stream; breaking off the range ends the turn, of which the steps
// kept so far stay.
func (a Assistant) Stream(ctx context.Context, request string) iter.Seq2[model.Event, error] {
	return a.stream(ctx, request, new(Answer))
}

// errLeft is why a turn ends whose range was broken off.
var errLeft = errors.New("nobody listens any more")

func (a Assistant) stream(ctx context.Context, request string, answer *Answer) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		left := false
		show := func(e model.Event) {
			if !left && !yield(e, nil) {
				left = true
				stop(errLeft)
			}
		}
		var err error
		*answer, err = a.turn(ctx, tool.Context{Principal: a.Principal}, request, show)
		if err != nil && !left {
			yield(nil, err)
		}
	}
}

// AsTool makes a subagent of the assistant: each call is a conversation of its own, of which nothing is kept or remembered; the
// answer is the result. It acts for the caller of the tool; a State of its own wins over the caller's. What it used is counted in the
// run that calls it.
func (a Assistant) AsTool(name, description string) tool.Tool {
	type in struct {
		Request string `json:"request" jsonschema:"what to do, with everything that must be known to do it"`
	}
	a.SessionID, a.Storage, a.Memory = "", nil, nil
	return tool.New(name, description, func(ctx tool.Context, in in) (string, error) {
		sub := a
		if sub.State == nil {
			sub.State, _ = tool.State[any](ctx)
		}
		if sub.Log == nil {
			sub.Log = ctx.Log
		}
		answer, err := sub.turn(ctx, tool.Context{Principal: ctx.Principal, TaskID: ctx.TaskID}, in.Request, nil)
		if above, ok := ctx.Value(delegating{}).(*delegation); ok {
			above.run.delegated.add(answer.Usage)
		}
		return answer.Output, err
	})
}
