package agent

import (
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Subagents are tools that are agents of their own: each works on one request in a conversation of its own, and its answer is the result.
// Add yours here. They are offered to sessions that name them.
func Subagents() tool.Registry { return tool.Registry{tool.ByName(secondOpinion())} }

// secondOpinion is an example: a reader who has not seen the conversation, and may look into its files.
func secondOpinion() tool.Tool {
	files, _ := tool.FileTools().Pick("read_file", "list_files")
	return loop.Subagent{
		Name:        "second_opinion",
		Description: "Has a careful reader, who has not seen this conversation, check a text, an answer or a file of the workspace.",
		Instructions: "You check what others wrote. Say what is wrong, unclear or missing, the worst first, in at most five points; " +
			"say so when you find nothing. Never rewrite it.",
		Tools: files, MaxIterations: 6,
	}
}
