package agent

import (
	"slices"

	"github.com/steadfast-agents/steadfast/core/tool"
)

// Tools are offered to every session and task that does not pick its own by name. Add yours here: tool.New takes a name, a
// description for the model and a Go function, and infers the schema from its input.
func Tools() tool.Registry {
	return slices.Concat(tool.Builtin(), tool.FileTools(), tool.Registry{tool.RemindMe(), publishNote()}, Subagents())
}

type note struct {
	Text string `json:"text" jsonschema:"what to publish"`
}

// publishNote is an example of a tool that a person has to approve: put what publishes in its place. It is offered to sessions that name
// it. Its worker may die when it has begun; then nobody runs it again, and the model is told that the outcome is not known.
func publishNote() tool.Tool {
	return tool.ByName(tool.RequireApproval(tool.New("publish_note", "Publishes a note. A person is asked first.",
		func(ctx tool.Context, n note) (string, error) {
			ctx.Log.InfoContext(ctx, "note published", "call", ctx.ToolUseID, "bytes", len(n.Text))
			return "published: " + n.Text, nil
		})))
}
