package sam

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// resolver replaces intrinsic functions by their values. It works on YAML nodes, so order and line numbers stay.
type resolver struct {
	parameters map[string]*yaml.Node
	pseudo     map[string]string
	conditions *conditions
	mappings   *yaml.Node
	resources  map[string]resource
}

const noValue = "AWS::NoValue"

// shortForms are the tags that stand for an intrinsic function; the long form is a mapping of that one key.
var shortForms = map[string]string{
	"!Ref": "Ref", "!Sub": "Fn::Sub", "!GetAtt": "Fn::GetAtt", "!Join": "Fn::Join", "!If": "Fn::If",
	"!Equals": "Fn::Equals", "!Not": "Fn::Not", "!And": "Fn::And", "!Or": "Fn::Or", "!Condition": "Condition",
	"!FindInMap": "Fn::FindInMap", "!Select": "Fn::Select", "!Split": "Fn::Split",
}

// intrinsic names the function that n calls, with its argument. Name is empty when n is plain data. A key named
// Condition beside others is data: it is the condition of a resource.
func intrinsic(n *yaml.Node) (name string, arg *yaml.Node) {
	if n == nil {
		return "", nil
	}
	if long, ok := shortForms[n.Tag]; ok {
		arg := *n
		arg.Tag = ""
		if arg.Kind == yaml.ScalarNode {
			arg.Tag = "!!str"
		}
		return long, &arg
	}
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		return n.Tag, n // an unknown one: the resolver refuses it by its tag
	}
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 {
		key := n.Content[0].Value
		if key == "Ref" || key == "Condition" || strings.HasPrefix(key, "Fn::") {
			return key, follow(n.Content[1])
		}
	}
	return "", nil
}

func isIntrinsic(n *yaml.Node) bool {
	name, _ := intrinsic(n)
	return name != ""
}

// resolve gives n with every intrinsic function replaced. The result is nil for AWS::NoValue, which removes the key or
// the element it stands at.
func (r *resolver) resolve(n *yaml.Node) (*yaml.Node, error) {
	n = follow(n)
	if n == nil {
		return nil, nil
	}
	if name, arg := intrinsic(n); name != "" {
		out, err := r.call(name, arg)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", n.Line, name, err)
		}
		return out, nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		return r.resolveMapping(n)
	case yaml.SequenceNode:
		return r.resolveList(n)
	}
	return n, nil
}

func (r *resolver) resolveMapping(n *yaml.Node) (*yaml.Node, error) {
	var out []pair
	for _, p := range pairs(n) {
		if p.key == "<<" {
			return nil, fmt.Errorf("line %d: merge keys (<<) are not supported", n.Line)
		}
		value, err := r.resolve(p.value)
		if err != nil {
			return nil, err
		}
		if value != nil {
			out = append(out, pair{p.key, value})
		}
	}
	return mapping(out), nil
}

func (r *resolver) resolveList(n *yaml.Node) (*yaml.Node, error) {
	var out []*yaml.Node
	for _, item := range n.Content {
		value, err := r.resolve(item)
		if err != nil {
			return nil, err
		}
		if value != nil {
			out = append(out, value)
		}
	}
	return list(out...), nil
}

func (r *resolver) call(name string, arg *yaml.Node) (*yaml.Node, error) {
	switch name {
	case "Ref":
		return r.ref(arg.Value)
	case "Fn::GetAtt":
		return r.getAtt(arg)
	case "Fn::Sub":
		return r.sub(arg)
	case "Fn::Join":
		return r.join(arg)
	case "Fn::Split":
		return r.split(arg)
	case "Fn::Select":
		return r.selectItem(arg)
	case "Fn::FindInMap":
		return r.findInMap(arg)
	case "Fn::If":
		return r.branch(arg)
	case "Fn::Equals", "Fn::Not", "Fn::And", "Fn::Or", "Condition":
		return nil, fmt.Errorf("belongs under Conditions")
	}
	return nil, fmt.Errorf("is not supported by the local cloud")
}

func (r *resolver) ref(name string) (*yaml.Node, error) {
	if name == noValue {
		return nil, nil
	}
	if value, ok := r.pseudo[name]; ok {
		return text(value), nil
	}
	if value, ok := r.parameters[name]; ok {
		return value, nil
	}
	if res, ok := r.resources[name]; ok {
		return text(res.ref), nil
	}
	return nil, fmt.Errorf("%q is no parameter and no resource", name)
}

func (r *resolver) getAtt(arg *yaml.Node) (*yaml.Node, error) {
	id, attr, _ := strings.Cut(arg.Value, ".")
	if arg.Kind == yaml.SequenceNode {
		if len(arg.Content) != 2 {
			return nil, fmt.Errorf("takes a resource and an attribute")
		}
		id, attr = arg.Content[0].Value, arg.Content[1].Value
	}
	value, err := r.attribute(id, attr)
	if err != nil {
		return nil, err
	}
	return text(value), nil
}

func (r *resolver) attribute(id, attr string) (string, error) {
	res, ok := r.resources[id]
	if !ok {
		return "", fmt.Errorf("%q is no resource", id)
	}
	value, ok := res.attributes[attr]
	if !ok {
		return "", fmt.Errorf("%s (%s) has no attribute %q here", id, res.kind, attr)
	}
	return value, nil
}

// branch is Fn::If: only the branch taken is resolved.
func (r *resolver) branch(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 3 {
		return nil, fmt.Errorf("takes a condition and two values")
	}
	holds, err := r.conditions.holds(arg.Content[0].Value)
	if err != nil {
		return nil, err
	}
	if holds {
		return r.resolve(arg.Content[1])
	}
	return r.resolve(arg.Content[2])
}

func (r *resolver) findInMap(arg *yaml.Node) (*yaml.Node, error) {
	path, err := r.texts(arg)
	if err != nil {
		return nil, err
	}
	if len(path) != 3 {
		return nil, fmt.Errorf("takes a map and two keys")
	}
	found := field(field(field(r.mappings, path[0]), path[1]), path[2])
	if found == nil {
		return nil, fmt.Errorf("nothing at %s", strings.Join(path, "."))
	}
	return found, nil
}

// texts resolves a list of scalars.
func (r *resolver) texts(n *yaml.Node) ([]string, error) {
	n, err := r.resolve(n)
	if err != nil {
		return nil, err
	}
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("takes a list")
	}
	if slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode }) {
		return nil, fmt.Errorf("takes a list of plain values")
	}
	out := make([]string, len(n.Content))
	for i, item := range n.Content {
		out[i] = item.Value
	}
	return out, nil
}

// text resolves n, which must be a scalar.
func (r *resolver) text(n *yaml.Node) (string, error) {
	n, err := r.resolve(n)
	if err != nil {
		return "", err
	}
	if n == nil || n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("a plain value is needed")
	}
	return n.Value, nil
}
