package skill

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var (
	keyLine     = regexp.MustCompile(`^[A-Za-z_][\w.-]*:`)
	secondBlock = regexp.MustCompile(`(?m)^(name|description):`)
	yamlPlace   = regexp.MustCompile(`line (\d+)`)
)

// field is one key of the metadata with its value.
type field struct {
	key   string
	line  int // in the file
	base  int // the line of the file that the value's lines are counted from
	value *yaml.Node
}

// fields reads the metadata, whose first line is line first of the file. Of a key that comes twice the first counts.
func (r *report) fields(block string, first int) ([]field, bool) {
	root, err := parseYAML(block)
	var all []field
	switch {
	case err != nil:
		var ok bool
		if all, ok = r.repair(block, first, err); !ok {
			return nil, false
		}
	case root == nil:
		return nil, true
	case root.Kind != yaml.MappingNode:
		return nil, r.skip(FrontmatterNotMapping, first, "the metadata is not made of fields such as name: and description:")
	default:
		all = pairs(root, first)
	}
	return r.unique(r.rereadDescription(all, block, first)), true
}

// rereadDescription takes a description that happens to read as a mapping, as "Use when: asked" on its own line does, for text.
func (r *report) rereadDescription(all []field, block string, first int) []field {
	for i, f := range all {
		if f.key != "description" || f.value.Kind != yaml.MappingNode {
			continue
		}
		for _, c := range chunks(block, first) {
			if c.line == f.line {
				all[i].value = scalar(c.plain())
				r.tell(YAMLRepaired, f.line, "the description is not in quotes and reads as a mapping; all of it is taken as text")
			}
		}
	}
	return all
}

// unique keeps the first field of each key.
func (r *report) unique(all []field) []field {
	seen := make(map[string]bool, len(all))
	kept := all[:0:0]
	for _, f := range all {
		if seen[f.key] {
			r.tell(DuplicateKey, f.line, "%s is there twice, the first one counts", f.key)
			continue
		}
		seen[f.key] = true
		kept = append(kept, f)
	}
	return kept
}

// parseYAML reads one document. It gives nil for an empty one.
func parseYAML(text string) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	d := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("yaml: more than one document")
	}
	root = resolve(doc.Content[0])
	if isNull(root) {
		return nil, nil
	}
	return root, nil
}

// pairs gives the fields of a mapping that begins at line first of the file.
func pairs(mapping *yaml.Node, first int) []field {
	all := make([]field, 0, len(mapping.Content)/2)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := resolve(mapping.Content[i])
		all = append(all, field{key: key.Value, line: first + max(key.Line, 1) - 1, base: first, value: resolve(mapping.Content[i+1])})
	}
	return all
}

// resolve follows an alias; one of an alias is not possible.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// text gives a scalar as it was written, trimmed. A null is no text.
func (f field) text() (string, bool) {
	if f.value.Kind != yaml.ScalarNode || isNull(f.value) {
		return "", false
	}
	return strings.TrimSpace(f.value.Value), true
}

func withDefault(fields []field, key, value string) []field {
	for i, f := range fields {
		if f.key == key {
			if text, ok := f.text(); !ok || text == "" {
				fields[i].value = scalar(value)
			}
			return fields
		}
	}
	return append(fields, field{key: key, line: 1, value: scalar(value)})
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.SingleQuotedStyle, Value: text}
}

// fill puts the fields into s.
func (r *report) fill(s *Skill, fields []field, folder string) bool {
	var name, description field
	for _, f := range fields {
		switch f.key {
		case "name":
			name = f
		case "description":
			description = f
		case "license":
			s.License = r.plainText(f)
		case "compatibility":
			s.Compatibility = r.compatibility(f)
		case "metadata":
			s.Metadata = r.metadata(f)
		case "allowed-tools":
			var ok bool
			if s.AllowedTools, ok = r.allowedTools(f); !ok {
				return false
			}
		default:
			r.hostField(s, f)
		}
	}
	s.Name = r.name(name, folder)
	var ok bool
	s.Description, ok = r.description(description)
	return ok
}

// hostField reads a field outside the format: two that many hosts know, and the rest is only noted.
func (r *report) hostField(s *Skill, f field) {
	value, _ := f.text()
	switch f.key {
	case "disable-model-invocation":
		s.HiddenFromModel = isYes(value)
	case "user-invocable":
		s.HiddenFromUser = isNo(value)
	}
	r.tell(UnknownField, f.line, "%q is not a field of the format", f.key)
}

func isYes(word string) bool {
	word = strings.ToLower(word)
	return word == "true" || word == "yes" || word == "on"
}

func isNo(word string) bool {
	word = strings.ToLower(word)
	return word == "false" || word == "no" || word == "off"
}

func (r *report) name(f field, folder string) string {
	if f.value != nil {
		if name, ok := f.text(); ok && name != "" {
			r.checkName(name, folder, f.line)
			return name
		}
	}
	if folder == "" {
		folder = "skill"
	}
	r.tell(NameMissing, max(f.line, 1), "the name is missing, the folder's is used: %s", folder)
	return folder
}

func (r *report) description(f field) (string, bool) {
	if f.value == nil {
		return "", r.skip(DescMissing, 1, "the description is missing")
	}
	text, ok := f.text()
	switch {
	case f.value.Kind == yaml.SequenceNode:
		return "", r.skip(DescNotString, f.line, "the description is a list, not a text")
	case !ok || text == "":
		return "", r.skip(DescMissing, f.line, "the description is empty")
	}
	if f.value.Style == 0 && f.value.LineComment != "" {
		r.tell(DescCommentTruncated, f.line, "the description ends at %q because a # after a blank begins a comment: put it in quotes", tail(text))
	}
	if n := utf8.RuneCountInString(text); n > MaxDescription {
		r.tell(DescTooLong, f.line, "the description has %d characters, more than %d", n, MaxDescription)
	}
	return text, true
}

// tail is the end of a text for a message.
func tail(text string) string {
	if runes := []rune(text); len(runes) > 20 {
		return "..." + string(runes[len(runes)-20:])
	}
	return text
}

// plainText is the text of an optional field; what is no text is left out and told.
func (r *report) plainText(f field) string {
	text, ok := f.text()
	if !ok && !isNull(f.value) {
		r.tell(FieldNotText, f.line, "%s is not a text and is left out", f.key)
	}
	return text
}

func (r *report) compatibility(f field) string {
	text := r.plainText(f)
	if n := utf8.RuneCountInString(text); n > MaxCompatibility {
		r.tell(CompatTooLong, f.line, "compatibility has %d characters, more than %d", n, MaxCompatibility)
	}
	return text
}

// metadata keeps what is text, and tells of the rest.
func (r *report) metadata(f field) map[string]string {
	if isNull(f.value) {
		return nil
	}
	if f.value.Kind != yaml.MappingNode {
		r.tell(MetadataNotStringMap, f.line, "metadata is not a map of texts and is left out")
		return nil
	}
	out := make(map[string]string, len(f.value.Content)/2)
	for _, entry := range r.unique(pairs(f.value, f.base)) {
		switch {
		case isNull(entry.value):
			out[entry.key] = ""
		case entry.value.Kind == yaml.ScalarNode:
			out[entry.key] = entry.value.Value
		default:
			r.tell(MetadataNotStringMap, entry.line, "metadata.%s is not a text and is left out", entry.key)
		}
	}
	return out
}
