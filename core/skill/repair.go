package skill

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// chunk is the lines of one field: its key and what follows up to the next key at the left edge.
type chunk struct {
	key  string // "": what comes before the first key
	line int    // in the file
	text string
}

// chunks cuts metadata whose first line is line first of the file.
func chunks(block string, first int) []chunk {
	var all []chunk
	line := first
	for text := range strings.Lines(block) {
		if key := keyLine.FindString(text); key != "" && !strings.HasPrefix(text[len(key):], "//") {
			all = append(all, chunk{key: strings.TrimSuffix(key, ":"), line: line})
		} else if len(all) == 0 {
			all = append(all, chunk{line: line})
		}
		all[len(all)-1].text += text
		line++
	}
	return all
}

// repair reads metadata that is no YAML field by field, so that one broken field costs no other. cause is what is wrong with
// the whole.
func (r *report) repair(block string, first int, cause error) ([]field, bool) {
	at := placeOf(cause, first)
	var all []field
	for _, c := range chunks(block, first) {
		if c.key == "" {
			if root, err := parseYAML(c.text); err != nil || root != nil {
				return nil, r.skip(YAMLUnparseable, at, "the metadata is not YAML: %s", reason(cause))
			}
			continue
		}
		if c.key == "metadata" {
			all = append(all, c.nested())
			continue
		}
		f, ok := c.read()
		if !ok && c.losesTools(f) {
			return nil, r.skip(AllowedToolsUnreadable, c.line, "allowed-tools cannot be read, and without them the skill would be another one")
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, r.skip(YAMLUnparseable, at, "the metadata is not YAML: %s", reason(cause))
	}
	r.tell(YAMLRepaired, at, "the metadata is not YAML (%s); it was read field by field. Put values with a colon or a special sign in quotes", reason(cause))
	return all, true
}

var toolsLine = regexp.MustCompile(`(?m)^\s*allowed-tools\s*:`)

// losesTools reports whether taking the chunk for text loses allowed-tools: those it is, or a line of it that is indented by mistake.
func (c chunk) losesTools(f field) bool {
	if c.key == "allowed-tools" {
		return !readableTools(f.value.Value)
	}
	return toolsLine.MatchString(c.text)
}

// read gives the field of a chunk: as YAML if it is, else (ok false) with all its text as the value.
func (c chunk) read() (f field, ok bool) {
	for _, text := range []string{c.text, strings.ReplaceAll(c.text, "\t", "  ")} {
		root, err := parseYAML(text)
		if err == nil && root != nil && root.Kind == yaml.MappingNode && len(root.Content) == 2 {
			return pairs(root, c.line)[0], true
		}
	}
	return field{key: c.key, line: c.line, base: c.line, value: scalar(c.plain())}, false
}

// nested reads a map of texts, entry by entry if it must.
func (c chunk) nested() field {
	f, ok := c.read()
	_, inner := cutLine(c.text)
	if ok || strings.TrimSpace(inner) == "" {
		return f
	}
	f.value = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1}
	for _, entry := range chunks(dedent(inner), c.line+1) {
		if entry.key == "" {
			continue
		}
		value, _ := entry.read()
		key := scalar(entry.key)
		key.Line = entry.line - c.line + 1
		f.value.Content = append(f.value.Content, key, value.value)
	}
	return f
}

// dedent takes from each line the blanks that the first line with text begins with.
func dedent(text string) string {
	var b strings.Builder
	edge := -1
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "  ")) {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		if edge < 0 && strings.TrimSpace(line) != "" {
			edge = blanks
		}
		b.WriteString(line[min(max(edge, 0), blanks):])
	}
	return b.String()
}

// plain gives all text after the key: lines folded into one, an empty line as a line end, quotes around the whole taken off.
func (c chunk) plain() string {
	value := strings.ReplaceAll(strings.TrimPrefix(c.text, c.key+":"), "\t", "  ")
	first, rest := cutLine(value)
	between := " "
	if head := strings.TrimSpace(first); head != "" && len(head) <= 3 && strings.Trim(head, "|>+-123456789") == "" && (head[0] == '|' || head[0] == '>') {
		if head[0] == '|' {
			between = "\n"
		}
		value = rest
	}
	value = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' {
			return -1
		}
		return c
	}, value)
	return unquote(strings.TrimSpace(fold(value, between)))
}

// fold joins lines; of blank lines one line end stays.
func fold(text, between string) string {
	var b strings.Builder
	gap := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			gap = "\n"
			continue
		}
		if b.Len() > 0 {
			b.WriteString(gap)
		}
		b.WriteString(line)
		gap = between
	}
	return b.String()
}

// unquote takes off quotes around the whole of text, if there are none inside.
func unquote(text string) string {
	if len(text) < 2 || text[0] != text[len(text)-1] || text[0] != '"' && text[0] != '\'' {
		return text
	}
	quote, inner := text[:1], text[1:len(text)-1]
	if quote == `"` && !strings.Contains(strings.ReplaceAll(inner, `\"`, ""), quote) {
		return strings.ReplaceAll(inner, `\"`, quote)
	}
	if quote == `'` && !strings.Contains(strings.ReplaceAll(inner, `''`, ""), quote) {
		return strings.ReplaceAll(inner, `''`, quote)
	}
	return text
}

// placeOf is the line of the file that a YAML error names.
func placeOf(err error, first int) int {
	if m := yamlPlace.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return first + n - 1
		}
	}
	return first
}

// reason is a YAML error without its place, which is counted from another line.
func reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if yamlPlace.MatchString(text) {
		if _, after, ok := strings.Cut(text, ": "); ok {
			return after
		}
	}
	return text
}
