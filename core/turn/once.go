package turn

import (
	"context"
	"errors"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/store"
)

// begun are the calls that this ownership has begun and that must not be begun again, with their results as far as they are known.
type begun map[string]*model.ToolResult

// outcomeUnknown is what the model reads of a call that was begun by a worker which did not live to save its result.
const outcomeUnknown = "The call was begun before, and its worker stopped before the result was saved. It is not run a second time. " +
	"Whether it took effect is not known: find out, or ask, before doing it again."

// markOnce marks a call of a tool that must not run twice before it runs. Whoever finds the mark does not run the call: its result
// is that the outcome is unknown. A mark whose own answer was lost is read again: if this owner wrote it and has not gone on, the
// call was never begun.
func (j *journal) markOnce(ctx context.Context, call model.ToolUse) error {
	if result, was := j.begun[call.ID]; was {
		if result != nil { // only its save was lost
			return &loop.Answered{Result: *result}
		}
		return unknown(call)
	}
	mark, there, err := j.Table.Execution(ctx, j.id, call.ID)
	switch {
	case err != nil:
		return errors.Join(errReload, err)
	case there && !mark.By(j.me):
		j.log.WarnContext(ctx, "a call that must not run twice was begun before", "tool", call.Name, "call", call.ID)
		return unknown(call)
	case !there:
		write := store.NewExecution(j.id, call.ID, call.Name, j.me, j.Now())
		if err := j.commit(ctx, j.state.Hold(j.me, j.Now()), true, write); err != nil {
			return err
		}
	}
	if j.begun == nil {
		j.begun = begun{}
	}
	j.begun[call.ID] = nil
	return nil
}

// ended notes the results of calls that were begun.
func (b begun) ended(results []model.ToolResult) {
	for _, r := range results {
		if _, was := b[r.ID]; was {
			b[r.ID] = &r
		}
	}
}

// unknown is the result of a call that was begun and may have ended.
func unknown(call model.ToolUse) error {
	return &loop.Answered{Result: model.ToolResult{ID: call.ID, Status: model.Failure, Content: []model.ResultPart{{Text: outcomeUnknown}}}}
}

// runsOnce reports whether the tool of a call must not run twice.
func (s setup) runsOnce(call model.ToolUse) bool {
	for _, t := range s.tools {
		if spec := t.Spec(); model.ToolName(spec.Name) == call.Name {
			return spec.Once
		}
	}
	return false
}
