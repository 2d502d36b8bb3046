package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// Condition is a parsed condition or filter. The zero value holds for every item.
type Condition struct {
	root  node
	names map[string]bool
}

// Holds reports whether the item (nil: none there) meets the condition.
func (c Condition) Holds(it value.Item) bool { return c.root == nil || c.root.holds(it) }

// Uses reports whether the condition reads the attribute.
func (c Condition) Uses(attribute string) bool { return c.names[attribute] }

type node interface{ holds(value.Item) bool }

type (
	orNode  struct{ left, right node }
	andNode struct{ left, right node }
	notNode struct{ inner node }
	parens  struct{ node }

	compareNode struct {
		op          string
		left, right operand
	}
	betweenNode struct{ v, low, high operand }
	inNode      struct {
		v    operand
		list []operand
	}
	funcNode struct {
		name string
		args []operand
	}
)

func (n orNode) holds(it value.Item) bool  { return n.left.holds(it) || n.right.holds(it) }
func (n andNode) holds(it value.Item) bool { return n.left.holds(it) && n.right.holds(it) }
func (n notNode) holds(it value.Item) bool { return !n.inner.holds(it) }

func (n compareNode) holds(it value.Item) bool {
	a, aok := n.left.get(it)
	b, bok := n.right.get(it)
	return compare(n.op, a, aok, b, bok)
}

func compare(op string, a value.Value, aok bool, b value.Value, bok bool) bool {
	switch op {
	case "=":
		return aok && bok && value.Equal(a, b)
	case "<>":
		return !aok || !bok || !value.Equal(a, b)
	}
	c, ordered := value.Compare(a, b)
	if !aok || !bok || !ordered {
		return false
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func (n betweenNode) holds(it value.Item) bool {
	v, ok := n.v.get(it)
	low, lok := n.low.get(it)
	high, hok := n.high.get(it)
	return compare(">=", v, ok, low, lok) && compare("<=", v, ok, high, hok)
}

func (n inNode) holds(it value.Item) bool {
	v, ok := n.v.get(it)
	for _, o := range n.list {
		if e, eok := o.get(it); ok && eok && value.Equal(v, e) {
			return true
		}
	}
	return false
}

func (n funcNode) holds(it value.Item) bool {
	v, ok := n.args[0].get(it)
	switch n.name {
	case "attribute_exists":
		return ok
	case "attribute_not_exists":
		return !ok
	}
	arg, aok := n.args[1].get(it)
	if !ok || !aok {
		return false
	}
	switch n.name {
	case "attribute_type":
		return string(v.Kind) == arg.Str
	case "begins_with":
		return v.Kind == arg.Kind && (v.Kind == value.String || v.Kind == value.Binary) && strings.HasPrefix(v.Str, arg.Str)
	}
	return contains(v, arg)
}

func contains(v, arg value.Value) bool {
	switch v.Kind {
	case value.String, value.Binary:
		return v.Kind == arg.Kind && strings.Contains(v.Str, arg.Str)
	case value.List:
		for _, e := range v.List {
			if value.Equal(e, arg) {
				return true
			}
		}
	case value.NumberSet:
		for _, d := range v.Nums {
			if arg.Kind == value.Number && d.Cmp(arg.Num) == 0 {
				return true
			}
		}
	case value.StringSet, value.BinarySet:
		for _, s := range v.Set {
			if setKind(arg.Kind) == v.Kind && s == arg.Str {
				return true
			}
		}
	}
	return false
}

func setKind(k value.Kind) value.Kind { return k + "S" }

// operand is a path, a literal, or the size of a path.
type operand struct {
	path    Path
	literal *value.Value
	size    bool
}

func (o operand) get(it value.Item) (value.Value, bool) {
	if o.literal != nil {
		return *o.literal, true
	}
	v, ok := o.path.Get(it)
	if !ok || !o.size {
		return v, ok
	}
	n, ok := length(v)
	return value.Num(value.Int(n)), ok
}

// length is what size() gives: characters, bytes or elements; numbers, booleans and null have none.
func length(v value.Value) (int, bool) {
	switch v.Kind {
	case value.String:
		return utf8.RuneCountInString(v.Str), true
	case value.Binary:
		return len(v.Str), true
	case value.List:
		return len(v.List), true
	case value.Map:
		return len(v.Map), true
	case value.NumberSet:
		return len(v.Nums), true
	case value.StringSet, value.BinarySet:
		return len(v.Set), true
	}
	return 0, false
}
