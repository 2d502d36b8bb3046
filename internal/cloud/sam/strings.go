package sam

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// sub is Fn::Sub, as text or as a list of text and own variables. ${!x} stays as ${x}.
func (r *resolver) sub(arg *yaml.Node) (*yaml.Node, error) {
	own := map[string]string{}
	template := arg.Value
	if arg.Kind == yaml.SequenceNode {
		if len(arg.Content) != 2 {
			return nil, fmt.Errorf("takes a text and its variables")
		}
		template = arg.Content[0].Value
		for _, p := range pairs(arg.Content[1]) {
			value, err := r.text(p.value)
			if err != nil {
				return nil, fmt.Errorf("variable %s: %w", p.key, err)
			}
			own[p.key] = value
		}
	}
	var failed error
	out := placeholder.ReplaceAllStringFunc(template, func(match string) string {
		name := strings.TrimSpace(match[2 : len(match)-1])
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			return "${" + literal + "}"
		}
		value, err := r.variable(name, own)
		if err != nil && failed == nil {
			failed = err
		}
		return value
	})
	return text(out), failed
}

func (r *resolver) variable(name string, own map[string]string) (string, error) {
	if value, ok := own[name]; ok {
		return value, nil
	}
	if id, attr, ok := strings.Cut(name, "."); ok {
		return r.attribute(id, attr)
	}
	n, err := r.ref(name)
	if err != nil {
		return "", err
	}
	if n == nil || n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("%q is not a plain value", name)
	}
	return n.Value, nil
}

func (r *resolver) join(arg *yaml.Node) (*yaml.Node, error) {
	separator, items, err := r.separated(arg)
	if err != nil {
		return nil, err
	}
	parts, err := r.texts(items)
	if err != nil {
		return nil, err
	}
	return text(strings.Join(parts, separator)), nil
}

func (r *resolver) split(arg *yaml.Node) (*yaml.Node, error) {
	separator, whole, err := r.separated(arg)
	if err != nil {
		return nil, err
	}
	value, err := r.text(whole)
	if err != nil {
		return nil, err
	}
	out := list()
	for part := range strings.SplitSeq(value, separator) {
		out.Content = append(out.Content, text(part))
	}
	return out, nil
}

func (r *resolver) separated(arg *yaml.Node) (string, *yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 {
		return "", nil, fmt.Errorf("takes a separator and a value")
	}
	return arg.Content[0].Value, arg.Content[1], nil
}

func (r *resolver) selectItem(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 {
		return nil, fmt.Errorf("takes an index and a list")
	}
	at, err := r.text(arg.Content[0])
	if err != nil {
		return nil, err
	}
	items, err := r.texts(arg.Content[1])
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(at)
	if err != nil || i < 0 || i >= len(items) {
		return nil, fmt.Errorf("index %q of %d items", at, len(items))
	}
	return text(items[i]), nil
}
