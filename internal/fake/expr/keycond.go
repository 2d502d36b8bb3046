package expr

import (
	"slices"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// KeyCondition is what a query asks of the keys: one partition and a range of it.
type KeyCondition struct {
	Hash attr.Value

	sort node // nil: all
}

// Holds reports whether a row of the partition is in the range.
func (k KeyCondition) Holds(item attr.Item) bool { return k.sort == nil || k.sort.holds(item) }

// KeyCondition parses a KeyConditionExpression for a key of the attributes hash and sort (sort may be empty).
func (s *Scope) KeyCondition(text, hash, sort string) (KeyCondition, error) {
	const what = "KeyConditionExpression"
	c, err := s.Condition(what, text)
	if err != nil {
		return KeyCondition{}, err
	}
	var k KeyCondition
	for _, term := range terms(c.root) {
		attribute, ok := keyTerm(term)
		switch {
		case !ok:
			return KeyCondition{}, attr.Refuse("Invalid %s: Invalid operator or operand used in %s", what, what)
		case attribute == hash && k.Hash == nil && isEqual(term):
			k.Hash = term.operands()[1].value(nil)
		case attribute == hash:
			return KeyCondition{}, attr.Refuse("Query key condition not supported")
		case attribute == sort && k.sort == nil:
			k.sort = term
		case attribute == sort:
			return KeyCondition{}, attr.Refuse("Invalid %s: KeyConditionExpressions must only contain one condition per key", what)
		default:
			return KeyCondition{}, attr.Refuse("Query condition missed key schema element: %s", sort)
		}
	}
	if k.Hash == nil {
		return KeyCondition{}, attr.Refuse("Query condition missed key schema element: %s", hash)
	}
	return k, nil
}

// terms takes an expression apart at its ANDs.
func terms(n node) []node {
	switch n := n.(type) {
	case group:
		return terms(n.inner)
	case both:
		return append(terms(n.left), terms(n.right)...)
	}
	return []node{n}
}

func isEqual(n node) bool {
	c, ok := n.(compare)
	return ok && c.op == "="
}

// keyTerm gives the attribute a term restricts, if the term is of a kind that keys allow.
func keyTerm(n node) (attribute string, ok bool) {
	switch n := n.(type) {
	case compare:
		if n.op == "<>" {
			return "", false
		}
	case function:
		if n.name != "begins_with" {
			return "", false
		}
	case between:
	default:
		return "", false
	}
	path, isPath := n.operands()[0].(Path)
	onlyConstants := !slices.ContainsFunc(n.operands()[1:], func(o operand) bool { _, c := o.(constant); return !c })
	if !isPath || len(path) != 1 || !onlyConstants {
		return "", false
	}
	return path.Attribute(), true
}

// Fits reports whether all values the range is compared with are of the type kind. begins_with does not fit numbers.
func (k KeyCondition) Fits(kind string) bool {
	if k.sort == nil {
		return true
	}
	if f, ok := k.sort.(function); ok && f.name == "begins_with" && kind == "N" {
		return false
	}
	return !slices.ContainsFunc(k.sort.operands()[1:], func(o operand) bool { return attr.Type(o.value(nil)) != kind })
}
