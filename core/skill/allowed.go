package skill

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// allowedTools reads the field in its documented form and as a list. What cannot be read costs the skill: it must not load
// with other limits than its author wrote.
func (r *report) allowedTools(f field) ([]string, bool) {
	unreadable := func() ([]string, bool) {
		return nil, r.skip(AllowedToolsUnreadable, f.line, "allowed-tools is neither a text nor a list of texts with closed parentheses")
	}
	items := []*yaml.Node{f.value}
	switch {
	case isNull(f.value):
		return nil, true
	case f.value.Kind == yaml.SequenceNode:
		r.tell(AllowedToolsList, f.line, "allowed-tools is a list; the format has one text with blanks between the tools")
		items = f.value.Content
	}
	var tools []string
	for _, item := range items {
		item = resolve(item)
		if item.Kind != yaml.ScalarNode || isNull(item) {
			return unreadable()
		}
		found, commas, ok := splitTools(item.Value)
		if !ok {
			return unreadable()
		}
		if commas {
			r.tell(AllowedToolsComma, f.line, "allowed-tools has commas; the format has blanks between the tools")
		}
		tools = append(tools, found...)
	}
	return tools, true
}

// splitTools cuts at blanks and commas outside of parentheses.
func splitTools(text string) (tools []string, commas, ok bool) {
	depth, start := 0, 0
	cut := func(end int) {
		if end > start {
			tools = append(tools, text[start:end])
		}
	}
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth > 0:
		case c == ',', c == ' ', c == '\t', c == '\n':
			commas = commas || c == ','
			cut(i)
			start = i + 1
		}
		if depth < 0 {
			return nil, commas, false
		}
	}
	cut(len(text))
	return tools, commas, depth == 0
}

// readableTools reports whether text that is no YAML can still be the field: no list, nothing quoted.
func readableTools(text string) bool {
	_, _, ok := splitTools(text)
	return ok && !strings.ContainsAny(text, "[]{}\"'") && !strings.HasPrefix(text, "- ")
}
