package agent

import "github.com/steadfast-agents/steadfast/core/tool"

// Tools are offered to every session and task that does not pick its own by name. Add yours here: tool.New takes a name, a
// description for the model and a Go function, and infers the schema from its input.
func Tools() tool.Registry {
	return tool.Builtin()
}
