package tool

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Context is what a call runs in. It is the call's context.Context, and it carries what the host has verified; the model
// can neither see nor set any of it.
type Context struct {
	context.Context
	ToolUseID string // of this call; the same again if the call is repeated
	Principal task.Principal
	Session   Session
	TaskID    string             // empty outside a task
	Files     Files              // the session's workspace; nil where there is none
	Reminders schedule.Reminders // of the caller; nil where the host has none
	Log       *slog.Logger       // never nil while a loop runs the tool

	// Retried is told before a wrapper repeats the call: which try failed (from 1), how long it waits, and why. nil:
	// nobody asks.
	Retried func(try int, wait time.Duration, err error)

	state   any
	earlier func() []json.RawMessage
}

// Session names the conversation a call belongs to. The zero value: none.
type Session struct {
	ID                string
	Channel           string
	ContinuationToken string // the key under which the channel keeps talking to it
}

// With gives the same context around another context.Context.
func (c Context) With(ctx context.Context) Context {
	c.Context = ctx
	return c
}

// WithState gives the same context with the trusted state that State reads.
func (c Context) WithState(state any) Context {
	c.state = state
	return c
}

// WithEarlier gives the same context with the calls that Earlier tells. earlier must be safe for concurrent use.
func (c Context) WithEarlier(earlier func() []json.RawMessage) Context {
	c.earlier = earlier
	return c
}

// Earlier gives the inputs of all calls of the same tool that came before this one in the conversation, in their order: those of
// the same reply too, which may run at this moment, and those that failed. A tool whose calls depend on nothing else can keep its
// state in them. nil where nobody knows.
func (c Context) Earlier() []json.RawMessage {
	if c.earlier == nil {
		return nil
	}
	return c.earlier()
}

// State reads the trusted state of the run as a T. A state of another type is fault.Internal, never a zero T: a tool must not go
// on with an empty tenant.
func State[T any](ctx Context) (T, error) {
	state, ok := ctx.state.(T)
	if !ok {
		return state, fault.New(fault.Internal, "the run's state is a %T, the tool wants a %T", ctx.state, state)
	}
	return state, nil
}

// ready fills what a call may rely on.
func (c Context) ready() Context {
	if c.Context == nil {
		c.Context = context.Background()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
