package turn

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// begun are calls of the step under way: those that have ended in this ownership, with their results, and those that it has begun and that
// must not be begun again.
type begun map[string]*model.ToolResult

// outcomeUnknown is what the model reads of a call that was begun by a worker which did not live to save its result.
const outcomeUnknown = "The call was begun before, and its worker stopped before the result was saved. It is not run a second time. " +
	"Whether it took effect is not known: find out, or ask, before doing it again."

// mark marks a call that must not run twice before it runs; asks says that a person must have approved it. One that nobody was asked
// about waits; one that was not approved is answered. Whoever finds the mark of another worker does not run the call: its result is
// that the outcome is unknown. A mark whose own answer was lost is read again: if this owner wrote it and has not gone on, the call
// was never begun.
func (j *journal) mark(ctx context.Context, call model.ToolUse, asks bool) error {
	if _, was := j.begun[call.ID]; was {
		return unknown(call)
	}
	a, err := j.Table.Approval(ctx, j.id, call.ID)
	none := fault.Is(err, fault.NotFound)
	var mark store.Write
	switch {
	case err != nil && !none:
		return errors.Join(errReload, err)
	case a.ExecutedBy(j.me):
		j.begins(call)
		return nil
	case a.Status == session.Executing:
		j.log.WarnContext(ctx, "a call that must not run twice was begun before", "tool", call.Name, "call", call.ID)
		return unknown(call)
	case none && asks && j.asks == maxAsked:
		return tooMany(call)
	case none && asks, a.Status == session.Pending:
		j.asks++
		return loop.ErrWait
	case none:
		mark = store.NewExecution(session.Executes(j.id, contract.ActionCall{ID: call.ID, Name: call.Name}, j.me, j.Now()))
	case a.Status != session.Approved:
		return &loop.Answered{Result: refusal(call, a)}
	default:
		mark = store.ChangeApproval(a.Execute(j.me, j.Now()))
	}
	if err := j.commit(ctx, j.state.Hold(j.me, j.Now()), true, mark); err != nil {
		return err
	}
	j.begins(call)
	return nil
}

// begins notes that a call is begun.
func (j *journal) begins(call model.ToolUse) { j.noted(call.ID, nil) }

// noted notes the result of a call, nil if there is none yet: should its save be lost, or not come to be, it is still known.
func (o *owner) noted(id string, result *model.ToolResult) {
	if o.begun == nil {
		o.begun = begun{}
	}
	o.begun[id] = result
}

// untold are the buffered events of calls that have ended, where the write that was to tell them with the results was not taken, and the
// row and the log are as before: those calls do not run again, so nobody else will tell.
func (o *owner) untold(s session.State, next int64) (kept []contract.SessionEvent) {
	if o.asking || s.Phase != session.Open || s.TurnSeq != o.state.TurnSeq || s.Step != o.state.Step || next != o.next {
		return nil
	}
	for _, e := range o.buffer {
		var d struct{ ID string }
		if json.Unmarshal(e.Data, &d) != nil {
			continue
		}
		if call, _, _ := strings.Cut(d.ID, "/"); o.begun[call] != nil { // what is below a call has its id before its own
			e.Index = next + int64(len(kept))
			kept = append(kept, e)
		}
	}
	return kept
}

// with adds the results that are known to those of calls that have just finished.
func (b begun) with(finished []model.ToolResult) []model.ToolResult {
	for _, r := range b {
		if r != nil {
			finished = append(finished, *r)
		}
	}
	return finished
}

// unknown is the result of a call that was begun and may have ended.
func unknown(call model.ToolUse) error {
	return &loop.Answered{Result: model.ToolResult{ID: call.ID, Status: model.Failure, Content: []model.ResultPart{{Text: outcomeUnknown}}}}
}

// spec is that of the tool that a call names; the zero value if there is none.
func (s setup) spec(call model.ToolUse) tool.Spec {
	for _, t := range s.tools {
		if spec := t.Spec(); model.ToolName(spec.Name) == call.Name {
			return spec
		}
	}
	return tool.Spec{}
}
