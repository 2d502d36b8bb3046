package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Do runs a tool outside of a model's turn, as who is named, and gives its output as JSON. toolUseID is the same when the call is
// repeated. Nobody is asked: a tool that a person has to approve is refused. Faults: NotFound (no such tool), Denied with reason
// approval_required, the tool's own, Internal (an output without a JSON form).
func (r Registry) Do(ctx context.Context, log *slog.Logger, toolUseID string, p task.Principal, name string, input json.RawMessage) (json.RawMessage, error) {
	found, _ := r.Pick(name)
	if len(found) == 0 {
		return nil, fault.New(fault.NotFound, "there is no tool %q", name)
	}
	if found[0].Spec().RequireApproval {
		return nil, fault.New(fault.Denied, "a person has to approve each call of %s, and nobody is asked here", name).Because("approval_required")
	}
	output, err := found[0].Call(Context{Context: ctx, ToolUseID: toolUseID, Principal: p, Log: log}.ready(), input)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	raw, err := json.Marshal(output)
	return raw, fault.Wrap(fault.Internal, err, "answer of %s", name)
}
