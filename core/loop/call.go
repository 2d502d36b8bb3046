package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// maxErrorText bounds the text of an error result, in bytes.
const maxErrorText = 4 * 1024

// call runs one tool. Whatever happens becomes a result; finished is false if all that happened is that ctx ended.
func (r *run) call(tc tool.Context, t tool.Tool, call model.ToolUse) (result model.ToolResult, finished bool) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("tool panicked", "tool", call.Name, "call", call.ID, "panic", p, "stack", string(debug.Stack()))
			result, finished = failed(call, fmt.Sprintf("The tool %s broke unexpectedly.", call.Name)), true
		}
	}()
	if t == nil {
		return failed(call, r.unknown(call.Name)), true
	}
	output, err := t.Call(tc, call.Input)
	if err == nil {
		var content []model.ResultPart
		if content, err = tool.Content(output); err == nil {
			return model.ToolResult{ID: call.ID, Status: model.Success, Content: content}, true
		}
	}
	if tc.Err() != nil && (errors.Is(err, tc.Err()) || errors.Is(err, context.Cause(tc))) {
		return model.ToolResult{}, false
	}
	return failed(call, r.errorText(call, err)), true
}

func (r *run) unknown(name string) string {
	if len(r.specs) == 0 {
		return fmt.Sprintf("There is no tool %q, and no other tool either.", tool.Cut(name, 80))
	}
	names := make([]string, len(r.specs))
	for i, s := range r.specs {
		names[i] = s.Name
	}
	return fmt.Sprintf("There is no tool %q. The tools are: %s.", tool.Cut(name, 80), strings.Join(names, ", "))
}

func failed(call model.ToolUse, text string) model.ToolResult {
	return model.ToolResult{ID: call.ID, Status: model.Failure, Content: []model.ResultPart{{Text: tool.Cut(text, maxErrorText)}}}
}

// errorText is what the model may read of err: all of it, unless it was marked as not for others. That one is logged, of
// others only the code: their text may hold what the user said.
func (r *run) errorText(call model.ToolUse, err error) string {
	text := err.Error()
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.Internal {
		r.Log.Error("tool failed", "tool", call.Name, "call", call.ID, "error", err)
		text = "The tool failed: " + fault.Public(err) + "."
	} else {
		r.Log.Info("tool failed", "tool", call.Name, "call", call.ID, "code", fault.CodeOf(err))
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.TrimSpace(text) == "" {
		return "The tool failed."
	}
	return text
}
