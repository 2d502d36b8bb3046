package snapshot

import (
	"strings"

	"github.com/steadfast-agents/steadfast/core/model"
)

// What a transcript keeps of each text that is said, and of each input and result of a tool, in bytes.
const (
	maxSaid = 4 * 1024
	maxTool = 1024
)

// Transcript tells messages as text of at most about limit bytes, for somebody who is to sum them up: who said what, which tools
// were called and what came of it. Long texts lose their middle, and so does the whole. An earlier summary is told in full.
func Transcript(messages []model.Message, limit int) string {
	var b strings.Builder
	for _, m := range messages {
		for _, block := range m.Content {
			if line := told(m.Role, block); line != "" {
				b.WriteString(line)
				b.WriteString("\n\n")
			}
		}
	}
	return middleOut(strings.TrimSpace(b.String()), limit)
}

func told(role model.Role, b model.Block) string {
	switch {
	case b.ToolUse != nil:
		return "Call of " + b.ToolUse.Name + ": " + middleOut(string(b.ToolUse.Input), maxTool)
	case b.ToolResult != nil:
		return "Result (" + string(b.ToolResult.Status) + "): " + middleOut(resultText(*b.ToolResult), maxTool)
	case b.Text == "" || b.Text == leftOut:
		return ""
	case strings.HasPrefix(b.Text, summaryOpens):
		return "Before: " + strings.TrimSuffix(strings.TrimPrefix(b.Text, summaryOpens), summaryCloses)
	case role == model.Assistant:
		return "Assistant: " + middleOut(b.Text, maxSaid)
	}
	return "User: " + middleOut(b.Text, maxSaid)
}

func resultText(r model.ToolResult) string {
	parts := make([]string, 0, len(r.Content))
	for _, p := range r.Content {
		switch {
		case p.JSON != nil:
			parts = append(parts, string(p.JSON))
		case p.Raw != nil:
			parts = append(parts, "(media)")
		default:
			parts = append(parts, p.Text)
		}
	}
	return strings.Join(parts, " ")
}
