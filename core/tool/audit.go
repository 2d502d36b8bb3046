package tool

import (
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Record says that a call ran, for whom and how it ended. It holds nothing of what was said: no input, no output, no error text.
type Record struct {
	Tool      string
	CallID    string
	Principal task.Principal
	SessionID string
	TaskID    string
	Bytes     int // of the input
	Took      time.Duration
	Code      fault.Code // why it failed; "": it did not
	Reason    string     // of the fault, if it has one
}

// Audit tells to of every call after it ran, also of one that panics. to nil: the log of the call's context, as one line. A tool that
// is audited already stays as it is if to is nil. to must be safe for concurrent use and return soon.
func Audit(t Tool, to func(Record)) Tool {
	if to == nil && t.Spec().Audited {
		return t
	}
	return audited{Tool: t, to: to}
}

type audited struct {
	Tool
	to func(Record)
}

func (a audited) Spec() Spec {
	s := a.Tool.Spec()
	s.Audited = true
	return s
}

func (a audited) Call(ctx Context, input json.RawMessage) (output any, err error) {
	ctx = ctx.ready()
	r := Record{
		Tool: a.Tool.Spec().Name, CallID: ctx.ToolUseID, Principal: ctx.Principal, SessionID: ctx.Session.ID, TaskID: ctx.TaskID,
		Bytes: len(input), Code: fault.Internal, Reason: "panic",
	}
	began := time.Now()
	defer func() {
		r.Took = time.Since(began)
		a.tell(ctx, r)
	}()
	output, err = a.Tool.Call(ctx, input)
	r.Code, r.Reason = fault.CodeOf(err), fault.ReasonOf(err)
	return output, err
}

func (a audited) tell(ctx Context, r Record) {
	if a.to != nil {
		a.to(r)
		return
	}
	ctx.Log.InfoContext(ctx, "tool called", "tool", r.Tool, "call", r.CallID, "principalType", r.Principal.Type, "principal", r.Principal.ID,
		"task", r.TaskID, "bytes", r.Bytes, "ms", r.Took.Milliseconds(), "code", r.Code, "reason", r.Reason)
}
