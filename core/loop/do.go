package loop

import (
	"context"
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Do runs one call without asking a model, as a step of a run would: the input is checked by the tool, the call is limited in time and
// size, a read is tried again, and what the tool does wrong is a result with status error. history is what the tool may see of the
// conversation. When ctx ends first, the tool's result is lost and the cause of the end returned.
//
// Faults: NotFound (no such tool), Denied with reason approval_required.
func (r Runner) Do(ctx context.Context, tc tool.Context, history []model.Message, call model.ToolUse) (model.ToolResult, time.Duration, error) {
	run := r.begin(tc, history)
	defer run.watcher.close()
	call.Name = model.ToolName(call.Name)
	t := run.tools[call.Name]
	switch {
	case t == nil:
		return model.ToolResult{}, 0, fault.New(fault.NotFound, "the session has no tool %q", tool.Cut(call.Name, 80))
	case t.Spec().RequireApproval:
		return model.ToolResult{}, 0, fault.New(fault.Denied, "a person has to approve each call of %s: have the agent call it", call.Name).Because("approval_required")
	}
	if len(call.Input) == 0 {
		call.Input = json.RawMessage(`{}`)
	}
	batch, err := run.runBatch(ctx, []model.ToolUse{call})
	if err != nil || len(batch) == 0 {
		return model.ToolResult{}, 0, fault.Wrap(fault.Unavailable, err, "call %s", call.Name)
	}
	return batch[0].result, batch[0].took, nil
}
