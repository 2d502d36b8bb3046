package expr

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Condition is a parsed condition or filter. The zero value holds for every item.
type Condition struct {
	root  node
	paths []Path
}

// Condition parses text; what is the name of the request field ("ConditionExpression", "FilterExpression").
func (s *Scope) Condition(what, text string) (Condition, error) {
	p, err := s.parser(what, text)
	if err != nil {
		return Condition{}, err
	}
	root, err := p.or()
	if err == nil {
		err = p.done()
	}
	if err != nil {
		return Condition{}, err
	}
	return Condition{root: root, paths: paths(root)}, nil
}

// Holds evaluates the condition. A row that is not there is an item without attributes.
func (c Condition) Holds(item attr.Item) bool { return c.root == nil || c.root.holds(item) }

// Attributes names the attributes the condition looks at.
func (c Condition) Attributes() []string {
	var names []string
	for _, p := range c.paths {
		names = append(names, p.Attribute())
	}
	return names
}

type node interface {
	holds(item attr.Item) bool
	operands() []operand
}

type (
	// both is AND, either is OR.
	both    struct{ left, right node }
	either  struct{ left, right node }
	not     struct{ inner node }
	group   struct{ inner node }
	compare struct {
		op   string
		a, b operand
	}
	between  struct{ v, low, high operand }
	oneOf    struct{ args []operand } // the first is looked for among the others
	function struct {
		name string
		args []operand
	}
)

func (n both) holds(item attr.Item) bool   { return n.left.holds(item) && n.right.holds(item) }
func (n either) holds(item attr.Item) bool { return n.left.holds(item) || n.right.holds(item) }
func (n not) holds(item attr.Item) bool    { return !n.inner.holds(item) }
func (n group) holds(item attr.Item) bool  { return n.inner.holds(item) }

func (n compare) holds(item attr.Item) bool { return compared(n.op, n.a.value(item), n.b.value(item)) }

func (n between) holds(item attr.Item) bool {
	v := n.v.value(item)
	return compared(">=", v, n.low.value(item)) && compared("<=", v, n.high.value(item))
}

func (n oneOf) holds(item attr.Item) bool {
	v := n.args[0].value(item)
	for _, o := range n.args[1:] {
		if compared("=", v, o.value(item)) {
			return true
		}
	}
	return false
}

func (n function) holds(item attr.Item) bool {
	v := n.args[0].value(item)
	switch n.name {
	case "attribute_exists":
		return v != nil
	case "attribute_not_exists":
		return v == nil
	case "attribute_type":
		return v != nil && attr.Type(v) == n.args[1].value(item).(*types.AttributeValueMemberS).Value
	case "begins_with":
		return attr.HasPrefix(v, n.args[1].value(item))
	default:
		return attr.Contains(v, n.args[1].value(item))
	}
}

// compared is false when a value is missing or the types differ, except for <>, which is the opposite of =.
func compared(op string, a, b attr.Value) bool {
	switch op {
	case "=":
		return attr.Equal(a, b)
	case "<>":
		return !attr.Equal(a, b)
	}
	order, ok := attr.Compare(a, b)
	if !ok {
		return false
	}
	return map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]
}

func (n both) operands() []operand     { return append(n.left.operands(), n.right.operands()...) }
func (n either) operands() []operand   { return append(n.left.operands(), n.right.operands()...) }
func (n not) operands() []operand      { return n.inner.operands() }
func (n group) operands() []operand    { return n.inner.operands() }
func (n compare) operands() []operand  { return []operand{n.a, n.b} }
func (n between) operands() []operand  { return []operand{n.v, n.low, n.high} }
func (n oneOf) operands() []operand    { return n.args }
func (n function) operands() []operand { return n.args }

func paths(n node) []Path {
	if n == nil {
		return nil
	}
	var out []Path
	for _, o := range n.operands() {
		switch o := o.(type) {
		case Path:
			out = append(out, o)
		case sizeOf:
			out = append(out, o.path)
		}
	}
	return out
}

// operand is a path, a constant or size(path).
type operand interface {
	value(item attr.Item) attr.Value
}

type constant struct{ v attr.Value }

func (c constant) value(attr.Item) attr.Value { return c.v }

type sizeOf struct{ path Path }

func (s sizeOf) value(item attr.Item) attr.Value {
	n, ok := attr.Len(s.path.value(item))
	if !ok {
		return nil
	}
	return attr.Int(n)
}
