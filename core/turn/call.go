package turn

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// What of an invocation's time is kept for recording a call, and when a tool that does not return is left behind.
const (
	callReserve = 3 * time.Second
	callCut     = time.Second
)

// CallIn is a tool call that no model asks for.
type CallIn struct {
	SessionID string
	Caller    contract.Principal
	Name      string          // of a tool that the session has
	Input     json.RawMessage // a JSON object; none: an empty one

	// DeliveryID makes the call one however often it is asked for, as long as the session's log is kept. "": each is its own.
	DeliveryID string
}

// Call runs one tool of a session at rest, under the session's own lease, and puts the call with its result into the log. The
// model does not see it. A turn does not begin meanwhile: a message that comes is admitted, and answered after the call.
//
// What the tool does wrong is a result with status error. With a DeliveryID it is idempotent: the same again gets the first answer, and
// where the first call's worker died nobody runs the tool a second time. Without one an answer that was lost leaves a call that may have
// had its effect, and so does a worker that dies, of whose call the log has nothing.
//
// Faults: Invalid, NotFound (no such session, no such tool), Denied (not the caller's session; reason approval_required), Conflict
// (session_busy; outcome_unknown, of a DeliveryID whose call was begun and has no result), Unavailable.
func (e *Engine) Call(ctx context.Context, in CallIn) (contract.ActionResult, error) {
	if err := in.validate(); err != nil {
		return contract.ActionResult{}, err
	}
	call := model.ToolUse{ID: "call_" + e.NewID(), Name: in.Name, Input: in.Input}
	if in.DeliveryID != "" {
		call.ID = in.callID()
		if done, known, err := e.calledBefore(ctx, in); known || err != nil {
			return done, err
		}
	}
	o, err := e.claimCall(ctx, in)
	if err != nil {
		return contract.ActionResult{}, err
	}
	marks := &callMarks{owner: o, once: in.DeliveryID != ""}
	result, took, err := o.callTool(ctx, call, marks)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), callReserve)
	defer cancel()
	if errors.Is(err, errCalled) {
		if err := o.endCall(closing, marks, nil, nil); err != nil {
			return contract.ActionResult{}, err
		}
		done, _, err := e.calledBefore(closing, in)
		return done, err
	}
	if err != nil {
		return contract.ActionResult{}, errors.Join(err, o.endCall(closing, marks, nil, nil))
	}
	name := model.ToolName(call.Name)
	done := contract.ActionResult{ID: call.ID, Name: name, Status: string(result.Status), Output: output(result), DurationMs: took.Milliseconds()}
	data := []contract.EventData{contract.ActionsRequested{Calls: []contract.ActionCall{{ID: call.ID, Name: name, Input: call.Input}}}, done}
	tagged, writes := o.files.tags()
	data = append(append(data, tagged...), contract.ActionsCompleted{IDs: []string{call.ID}})
	return done, o.endCall(closing, marks, data, writes)
}

func (in *CallIn) validate() error {
	if err := contract.CheckID("sessionId", in.SessionID); err != nil {
		return err
	}
	if len(in.Input) == 0 {
		in.Input = json.RawMessage(`{}`)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(in.Input, &object) != nil || object == nil {
		return fault.New(fault.Invalid, "input: must be a JSON object")
	}
	if in.DeliveryID != "" {
		return contract.CheckID("deliveryId", in.DeliveryID)
	}
	return nil
}

// claimCall makes this invocation the owner of a session at rest.
func (e *Engine) claimCall(ctx context.Context, in CallIn) (*owner, error) {
	for range 10 {
		s, err := e.Table.State(ctx, in.SessionID)
		switch {
		case err != nil:
			return nil, err
		case s.Principal != in.Caller:
			return nil, fault.New(fault.Denied, "not your session")
		case s.Expired(e.Now()):
			return nil, fault.New(fault.NotFound, "no such session")
		}
		sent := e.Now()
		id := e.NewID()
		change, err := s.ClaimCall(id, sent)
		if err != nil {
			return nil, err
		}
		claimed, err := e.Table.Renew(ctx, change)
		old, exists, refused := store.RefusedState(err, in.SessionID)
		switch {
		case err == nil:
			return e.own(ctx, claimed, session.Me{Owner: id, Fence: claimed.Fence}, sent), nil
		case refused && exists && old.Owner == id:
			return e.own(ctx, old, session.Me{Owner: id, Fence: old.Fence}, sent), nil
		case !refused:
			o, err := e.claimed(ctx, in.SessionID, id, sent, err)
			if err != nil || o != nil {
				return o, err
			}
		}
	}
	return nil, fault.New(fault.Conflict, "the session is busy").Because("session_busy")
}

// callTool runs the call while it keeps the lease.
func (o *owner) callTool(ctx context.Context, call model.ToolUse, marks *callMarks) (model.ToolResult, time.Duration, error) {
	if err := o.reload(ctx); err != nil {
		return model.ToolResult{}, 0, taken(err)
	}
	s, err := o.setup(ctx)
	if err != nil {
		return model.ToolResult{}, 0, err
	}
	h, err := o.load(ctx)
	if err != nil {
		return model.ToolResult{}, 0, err
	}
	o.reserve = callCut
	running, stop := o.keepLease(ctx)
	defer stop()
	giveBack, err := o.lend(running, &s)
	defer giveBack()
	if err != nil {
		return model.ToolResult{}, 0, err
	}
	o.files = o.fileRows()
	limits := o.limits()
	if deadline, ok := ctx.Deadline(); ok {
		limits.Tool = max(time.Until(deadline)-callReserve, time.Millisecond)
	}
	runner := loop.Runner{Tools: s.tools, Limits: limits, Journal: marks, Sleep: o.Sleep, Log: o.log}
	result, took, err := runner.Do(running, o.toolContext(running, s), h.Messages, call)
	if flag := stop(); flag != nil && err != nil {
		err = taken(flag)
	}
	return result, took, err
}

// taken says that somebody else has the session, or that it cannot be read now.
func taken(err error) error {
	return fault.Wrap(fault.Unavailable, err, "the session went on without the call")
}

// endCall records the call and gives the session up; what waits by then has an owner woken.
func (o *owner) endCall(ctx context.Context, marks *callMarks, data []contract.EventData, more []store.Write) error {
	waits := false
	var err error
	for range maxReloads {
		events := o.events("", data...)
		p := session.Progress{NextIndex: o.next + int64(len(events))}
		writes := more
		if len(events) > 0 {
			writes = append(append(more[:len(more):len(more)], o.eventsWrite(events)), marks.finish(events)...)
		}
		change := o.state.EndCall(o.me, p)
		if waits {
			change = o.state.HandOffCall(o.me, p, o.Now())
		}
		if err = o.commitEnd(ctx, change, writes...); err == nil {
			o.wrote(events)
			break
		}
		if !errors.Is(err, errReload) {
			return taken(err)
		}
		if err := o.reload(ctx); err != nil {
			return taken(err)
		}
		waits = o.state.Pending() > 0
	}
	switch {
	case err != nil:
		return err
	case !waits:
		o.publishLast(ctx)
	default: // the next owner tells the channel
		if err := o.Bus.RunTurn(ctx, o.id); err != nil {
			o.log.WarnContext(ctx, "the trigger was not published, the sweep will", "error", err)
		}
	}
	return nil
}
