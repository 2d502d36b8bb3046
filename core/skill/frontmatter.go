package skill

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

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
