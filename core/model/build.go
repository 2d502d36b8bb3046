package model

import "strings"

// The words that stand where the service wants some and history has none.
const (
	fillerUser      = "(no text)"
	fillerAssistant = "(no answer)"
	fillerFirst     = "(the conversation begins with an answer)"
	fillerLast      = "(please go on)"
	fillerResult    = "(no output)"
	interrupted     = "The call was interrupted before its result was saved. It may or may not have taken effect."
)

// Interrupted is the error result of a call whose own result is not known: the worker died or the turn was ended.
func Interrupted(callID string) ToolResult {
	return ToolResult{ID: callID, Status: Failure, Content: []ResultPart{{Text: interrupted}}}
}

// Build makes a request that the service takes, whatever its history and tools were: for every r whose own settings
// are right (MaxTokens, Temperature, ToolChoice), Check(Build(r)) is nil. Messages are repaired as Repair does it;
// blocks of unknown kinds, reasoning without a signature and misplaced cache points are left out; tool blocks become
// plain text when r offers no tools; tools with one name count once, names and schemas are made acceptable (see
// ToolName and PlainSchema: whoever runs the tools knows them by these names). A request has to end with the user:
// where history ends with an answer, a short "please go on" is added. Build never changes r or what it points to, is
// idempotent, and takes time and memory linear in the size of r.
func Build(r Request) Request {
	if blank(r.System) {
		r.System = ""
	}
	r.Tools = buildTools(r.Tools)
	if r.ToolChoice.Name != "" {
		r.ToolChoice.Name = ToolName(r.ToolChoice.Name)
	}
	messages := pair(join(r.Messages, cleanForSending))
	if len(r.Tools) == 0 {
		flatten(messages)
	}
	points := 0
	for i := len(messages) - 1; i >= 0; i-- {
		points = tidy(&messages[i], points)
	}
	messages = fill(messages)
	if n := len(messages); n == 0 || messages[n-1].Role == Assistant {
		messages = append(messages, Text(User, fillerLast))
	}
	r.Messages = messages
	return r
}

func buildTools(tools []ToolSpec) []ToolSpec {
	if len(tools) == 0 {
		return nil
	}
	built := make([]ToolSpec, 0, len(tools))
	seen := make(map[string]bool, len(tools))
	for _, t := range tools {
		t.Name = ToolName(t.Name)
		if seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		t.Schema = PlainSchema(t.Schema)
		if blank(t.Description) {
			t.Description = ""
		}
		built = append(built, t)
	}
	return built
}

// flatten turns the tool blocks of messages into plain text (a request without tools may not have any).
func flatten(messages []Message) {
	for i := range messages {
		for j, b := range messages[i].Content {
			switch {
			case b.ToolUse != nil:
				messages[i].Content[j] = Block{Text: callText(*b.ToolUse)}
			case b.ToolResult != nil:
				messages[i].Content[j] = Block{Text: resultText(*b.ToolResult)}
			}
		}
	}
}

func callText(u ToolUse) string {
	return "[tool call: " + u.Name + " " + string(object(u.Input)) + "]"
}

func resultText(r ToolResult) string {
	var s strings.Builder
	s.WriteString("[tool result")
	if r.Status == Failure {
		s.WriteString(", failed")
	}
	s.WriteString(":")
	for _, p := range r.Content {
		s.WriteString(" ")
		switch {
		case p.Raw != nil:
			s.WriteString(rawNote(p.Raw))
		case p.JSON != nil:
			s.Write(p.JSON)
		default:
			s.WriteString(p.Text)
		}
	}
	s.WriteString("]")
	return s.String()
}

// tidy removes, from a message that is about to be sent, cache points with nothing cacheable before them or beyond the
// limit (the latest stay) and reasoning at the end. points counts the cache points kept so far; the new count is
// returned.
func tidy(m *Message, points int) int {
	kept := m.Content[:0]
	for _, b := range m.Content {
		if b.CachePoint && (len(kept) == 0 || kept[len(kept)-1].CachePoint || kept[len(kept)-1].Reasoning != nil) {
			continue
		}
		kept = append(kept, b)
	}
	for len(kept) > 0 && kept[len(kept)-1].Reasoning != nil {
		kept = kept[:len(kept)-1]
	}
	m.Content, points = limitPoints(kept, points)
	return points
}

// limitPoints keeps the last cache points of content as long as the request has room for them.
func limitPoints(content []Block, points int) ([]Block, int) {
	first := len(content) // cache points from here on stay
	for i := len(content) - 1; i >= 0 && points < MaxCachePoints; i-- {
		if content[i].CachePoint {
			points, first = points+1, i
		}
	}
	kept := content[:0]
	for i, b := range content {
		if !b.CachePoint || i >= first {
			kept = append(kept, b)
		}
	}
	return kept, points
}
