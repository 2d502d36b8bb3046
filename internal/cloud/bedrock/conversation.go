package bedrock

import (
	"encoding/json"
	"regexp"
	"strings"
)

// conversation is what the offline model understands of a request.
type conversation struct {
	ask     string   // what the user wants now
	said    []string // what the user said before, oldest first
	context []string // text in tags, in any user message
	round   int      // replies with tool calls since the ask
	results []answered
	system  string
	tools   []ToolSpec
	schema  json.RawMessage // of the text, if it must fit one
	forced  string          // the tool that must be called: a name, or "*" for any
	id      string          // tells this request from others of the same conversation
}

// answered is a tool result with its tool's name.
type answered struct{ name, status, text string }

// opening is the tag that begins a piece of context.
var opening = regexp.MustCompile(`^\s*<([a-zA-Z][\w-]*)[^>]*>`)

// splitContext takes the pieces in tags, which an application put before the user's words, off the front of text.
func splitContext(text string) (context []string, words string) {
	for {
		tag := opening.FindStringSubmatch(text)
		if tag == nil {
			return context, text
		}
		end := "</" + tag[1] + ">"
		i := strings.Index(text, end)
		if i < 0 {
			return context, text
		}
		context = append(context, text[:i+len(end)])
		text = text[i+len(end):]
	}
}

// read takes a request apart.
func read(req Request) conversation {
	c := conversation{tools: req.Specs(), schema: req.textSchema(), id: fingerprint(req), system: joinText(req.System)}
	names := map[string]string{}
	for _, m := range req.Messages {
		if m.Role == "assistant" {
			c.round += one(noteCalls(m, names))
			continue
		}
		c.hear(m, names)
	}
	if req.Tools != nil && req.Tools.Choice != nil {
		switch choice := req.Tools.Choice; {
		case choice.Tool != nil:
			c.forced = choice.Tool.Name
		case choice.Any != nil:
			c.forced = "*"
		}
	}
	return c
}

// noteCalls keeps the names of a message's calls and reports whether it has any.
func noteCalls(m Message, names map[string]string) bool {
	any := false
	for _, b := range m.Content {
		if b.ToolUse != nil {
			names[b.ToolUse.ID], any = b.ToolUse.Name, true
		}
	}
	return any
}

// hear takes in a user message. New words make a new ask; results alone continue the old one.
func (c *conversation) hear(m Message, names map[string]string) {
	var words []string
	var results []answered
	for _, b := range m.Content {
		switch {
		case b.ToolResult != nil:
			results = append(results, answered{name: names[b.ToolResult.ID], status: b.ToolResult.Status, text: resultText(*b.ToolResult)})
		case b.Kind == "text":
			context, said := splitContext(b.Text)
			c.context = append(c.context, context...)
			if !blank(said) {
				words = append(words, strings.TrimSpace(said))
			}
		}
	}
	if len(words) == 0 {
		c.results = append(c.results, results...)
		return
	}
	if c.ask != "" {
		c.said = append(c.said, c.ask)
	}
	c.ask, c.round, c.results = strings.Join(words, "\n"), 0, nil
}

func resultText(r ToolResult) string {
	var parts []string
	for _, p := range r.Content {
		switch p.Kind {
		case "text":
			parts = append(parts, p.Text)
		case "json":
			parts = append(parts, string(p.JSON))
		default:
			parts = append(parts, "["+p.Kind+"]")
		}
	}
	return strings.Join(parts, "\n")
}

func joinText(blocks []Block) string {
	var texts []string
	for _, b := range blocks {
		if b.Kind == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
