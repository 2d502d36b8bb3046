package turn

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// errCalled says that a delivery's call was begun by another.
var errCalled = errors.New("the call was begun before")

// callID is that of a delivery's call: the same of each repeat.
func (in CallIn) callID() string {
	return "call_" + key.Hash(in.SessionID + "\x00" + model.ToolName(in.Name) + "\x00" + in.DeliveryID)[:32]
}

// calledBefore gives the answer of a delivery whose call was begun before; known is false if none was. Faults: NotFound, Denied, Conflict
// (session_busy while it runs, outcome_unknown), Unavailable.
func (e *Engine) calledBefore(ctx context.Context, in CallIn) (done contract.ActionResult, known bool, err error) {
	a, err := e.Table.Approval(ctx, in.SessionID, in.callID())
	if fault.Is(err, fault.NotFound) {
		return done, false, nil
	}
	if err != nil {
		return done, false, err
	}
	s, err := e.Table.State(ctx, in.SessionID)
	switch {
	case err != nil:
		return done, false, err
	case s.Principal != in.Caller:
		return done, false, fault.New(fault.Denied, "not your session")
	case s.Phase == session.Deleted || s.Expired(e.Now()):
		return done, false, fault.New(fault.NotFound, "no such session")
	}
	if a.ResultAt == 0 && !s.Mine(a.Owner, a.Fence) { // it may have ended between the two reads
		if a, err = e.Table.Approval(ctx, in.SessionID, in.callID()); err != nil {
			return done, false, err
		}
	}
	switch {
	case a.ResultAt > 0:
		done, err = e.resultAt(ctx, in.SessionID, a.ResultAt)
		return done, err == nil, err
	case s.Mine(a.Owner, a.Fence) && !s.Free(e.Now()):
		return done, false, fault.New(fault.Conflict, "the session is busy").Because("session_busy")
	}
	return done, false, fault.New(fault.Conflict, "the call was begun before and has no result: whether it took effect is not known").Because("outcome_unknown")
}

// resultAt reads a result from the log.
func (e *Engine) resultAt(ctx context.Context, sessionID string, index int64) (done contract.ActionResult, err error) {
	for event, err := range e.Table.SessionEvents(ctx, sessionID, index) {
		if err != nil {
			return done, err
		}
		if event.Index != index {
			break
		}
		err = json.Unmarshal(event.Data, &done)
		return done, fault.Wrap(fault.Internal, err, "event %d of %s", index, sessionID)
	}
	return done, fault.New(fault.NotFound, "the call's result is not kept any more")
}

// callMarks is the journal of a direct call. With once it marks the call right before it runs, so that nobody runs it again.
type callMarks struct {
	*owner
	once bool
	mark *session.Approval // written by this owner
}

// MayRun refuses when the lease may be over, and marks the call.
func (m *callMarks) MayRun(ctx context.Context, call model.ToolUse) error {
	if !m.mayAct() {
		return taken(errLost)
	}
	if !m.once {
		return nil
	}
	a := session.Executes(m.id, contract.ActionCall{ID: call.ID, Name: call.Name}, m.me, m.Now())
	err := m.commit(ctx, m.state.HoldCall(m.me, m.Now()), true, store.NewExecution(a))
	if err != nil {
		there, readErr := m.Table.Approval(ctx, m.id, call.ID)
		switch {
		case readErr != nil:
			return taken(err)
		case !there.ExecutedBy(m.me):
			return errCalled
		}
		a = there // only the answer was lost
	}
	m.mark = &a
	return nil
}

// finish is the write that notes where the result is among events.
func (m *callMarks) finish(events []contract.SessionEvent) []store.Write {
	if m.mark == nil {
		return nil
	}
	for _, e := range events {
		if e.Type == (contract.ActionResult{}).EventType() {
			return []store.Write{store.ChangeApproval(m.mark.Finish(e.Index))}
		}
	}
	return nil
}

// SaveCalls is not asked: no model asks for the call.
func (m *callMarks) SaveCalls(context.Context, int, model.Reply) error { return nil }

// SaveResults is not asked: the call's end saves its result.
func (m *callMarks) SaveResults(context.Context, int, []model.ToolResult, []time.Duration) error {
	return nil
}

// Boundary is not asked: no model is.
func (m *callMarks) Boundary(context.Context) ([]model.Block, error) { return nil, nil }
