package sam

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// pair is one entry of a mapping, in the order of the file.
type pair struct {
	key   string
	value *yaml.Node
}

// pairs lists the entries of a mapping; anything else has none.
func pairs(n *yaml.Node) []pair {
	n = follow(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	out := make([]pair, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, pair{n.Content[i].Value, n.Content[i+1]})
	}
	return out
}

// field gives the value of a key, nil when n is no mapping or lacks it.
func field(n *yaml.Node, key string) *yaml.Node {
	for _, p := range pairs(n) {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// follow goes through a YAML alias.
func follow(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

func mapping(entries []pair) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, p := range entries {
		out.Content = append(out.Content, text(p.key), p.value)
	}
	return out
}

// merge lays over on base as SAM lays a function's properties on its Globals: mappings merge key by key,
// lists are joined with base first, everything else is replaced.
func merge(base, over *yaml.Node) *yaml.Node {
	base, over = follow(base), follow(over)
	switch {
	case base == nil:
		return over
	case over == nil:
		return base
	case isIntrinsic(base) || isIntrinsic(over):
		return over
	case base.Kind == yaml.MappingNode && over.Kind == yaml.MappingNode:
		return mergeMappings(base, over)
	case base.Kind == yaml.SequenceNode && over.Kind == yaml.SequenceNode:
		return list(append(append([]*yaml.Node{}, base.Content...), over.Content...)...)
	}
	return over
}

func mergeMappings(base, over *yaml.Node) *yaml.Node {
	var out []pair
	for _, p := range pairs(base) {
		out = append(out, pair{p.key, merge(p.value, field(over, p.key))})
	}
	for _, p := range pairs(over) {
		if field(base, p.key) == nil {
			out = append(out, p)
		}
	}
	return mapping(out)
}

// number is an integer that may also be written as text, as parameters are.
type number int

func (v *number) UnmarshalYAML(n *yaml.Node) error {
	i, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		return fmt.Errorf("%q is not a whole number", n.Value)
	}
	*v = number(i)
	return nil
}

// flag is a boolean that may also be written as text.
type flag bool

func (v *flag) UnmarshalYAML(n *yaml.Node) error {
	b, err := strconv.ParseBool(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		return fmt.Errorf("%q is neither true nor false", n.Value)
	}
	*v = flag(b)
	return nil
}

// oneOrMany is a list that may also be written as its single element.
type oneOrMany []string

func (v *oneOrMany) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*v = oneOrMany{n.Value}
		return nil
	}
	var many []string
	if err := n.Decode(&many); err != nil {
		return err
	}
	*v = many
	return nil
}
