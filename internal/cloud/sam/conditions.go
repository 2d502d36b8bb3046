package sam

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// conditions evaluates the Conditions section on demand. A condition that needs itself is an error.
type conditions struct {
	declared *yaml.Node
	resolver *resolver
	known    map[string]bool
	open     map[string]bool
}

func (c *conditions) holds(name string) (bool, error) {
	if value, ok := c.known[name]; ok {
		return value, nil
	}
	n := field(c.declared, name)
	if n == nil {
		return false, fmt.Errorf("condition %q is not declared", name)
	}
	if c.open[name] {
		return false, fmt.Errorf("condition %q needs itself", name)
	}
	c.open[name] = true
	defer delete(c.open, name)
	value, err := c.eval(n)
	if err != nil {
		return false, fmt.Errorf("condition %s: %w", name, err)
	}
	c.known[name] = value
	return value, nil
}

func (c *conditions) eval(n *yaml.Node) (bool, error) {
	name, arg := intrinsic(follow(n))
	switch name {
	case "Condition":
		return c.holds(arg.Value)
	case "Fn::Equals":
		return c.equals(arg)
	case "Fn::Not":
		if len(arg.Content) != 1 {
			return false, fmt.Errorf("%s takes one condition", name)
		}
		value, err := c.eval(arg.Content[0])
		return !value, err
	case "Fn::And":
		return c.fold(arg, true)
	case "Fn::Or":
		return c.fold(arg, false)
	}
	return false, fmt.Errorf("line %d: %q is no condition function", n.Line, name)
}

// fold is And (all of them) or Or (any of them).
func (c *conditions) fold(arg *yaml.Node, and bool) (bool, error) {
	out := and
	for _, item := range arg.Content {
		value, err := c.eval(item)
		if err != nil {
			return false, err
		}
		if and {
			out = out && value
		} else {
			out = out || value
		}
	}
	return out, nil
}

func (c *conditions) equals(arg *yaml.Node) (bool, error) {
	if len(arg.Content) != 2 {
		return false, fmt.Errorf("Fn::Equals takes two values")
	}
	a, err := c.resolver.text(arg.Content[0])
	if err != nil {
		return false, err
	}
	b, err := c.resolver.text(arg.Content[1])
	return a == b, err
}
