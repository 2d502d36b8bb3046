package snapshot

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Withheld stands where a content filter has taken something out.
const Withheld = "(withheld by a content filter)"

// Withhold takes what was said in a turn out of its segments, in their order: the first is the one that the turn's prompt was written
// with, and what it says before the prompt stays. Calls and results stay in number, with their ids. Of a segment that was written in the
// turn and is a whole history, only what came before the turn stays; a summary that may tell of the turn goes too. Segments that were
// done before are left as they are.
func Withhold(segments []Segment) {
	said := map[string]bool{} // messages of the turn, as they were and as they are now
	count := 0
	for i := range segments {
		s := &segments[i]
		from := 0
		switch {
		case i == 0:
			from = max(0, len(s.Messages)-1)
		case s.Full:
			from = turnBegins(s.Messages, said)
			if len(s.Messages)-from < count { // some of the turn was summed up
				s.Messages = withoutSummaries(s.Messages, from)
			}
		}
		messages := slices.Clone(s.Messages)
		for j := from; j < len(messages); j++ {
			said[text(messages[j])] = true
			messages[j] = withhold(messages[j])
			said[text(messages[j])] = true
			count++
		}
		s.Messages = messages
		if s.Full {
			count = len(messages) - from
		}
	}
}

// turnBegins finds the turn in a history that was made shorter: where none of its messages is as it was, all counts as the turn's.
func turnBegins(messages []model.Message, said map[string]bool) int {
	return max(0, slices.IndexFunc(messages, func(m model.Message) bool { return said[text(m)] }))
}

func withoutSummaries(messages []model.Message, before int) []model.Message {
	messages = slices.Clone(messages)
	for i := range before {
		for j, b := range messages[i].Content {
			if strings.HasPrefix(b.Text, summaryOpens) {
				messages[i].Content = slices.Clone(messages[i].Content)
				messages[i].Content[j].Text = summaryOpens + Withheld + summaryCloses
			}
		}
	}
	return messages
}

func text(m model.Message) string {
	raw, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(raw)
}

// withhold takes out of a message all that it says.
func withhold(m model.Message) model.Message {
	content := make([]model.Block, 0, len(m.Content))
	told := false
	for _, b := range m.Content {
		switch {
		case b.ToolUse != nil:
			content = append(content, model.Block{ToolUse: &model.ToolUse{ID: b.ToolUse.ID, Name: b.ToolUse.Name, Input: json.RawMessage(`{}`)}})
		case b.ToolResult != nil:
			content = append(content, model.Block{ToolResult: &model.ToolResult{
				ID: b.ToolResult.ID, Status: b.ToolResult.Status, Content: []model.ResultPart{{Text: Withheld}},
			}})
		case b.Text != "" && !told, b.Raw != nil && !told:
			told = true
			content = append(content, model.Block{Text: Withheld})
		}
	}
	if len(content) == 0 {
		content = append(content, model.Block{Text: Withheld})
	}
	m.Content = content
	return m
}
