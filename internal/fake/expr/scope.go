// Package expr parses and evaluates DynamoDB's expressions (condition, filter, key condition, update, projection) over
// items in memory, and refuses what the service refuses: reserved words without a placeholder, undefined and unused
// placeholders, wrong operand types, redundant parentheses, overlapping paths. Refusals are attr.Refused with the service's
// words. It knows nothing of tables or calls.
//
// A comparison with a missing attribute is false, except <> which is then true, as in the service.
package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Scope holds the placeholders of one request and remembers which were used. Parse all expressions of the request with
// it, then ask Unused.
type Scope struct {
	Names  map[string]string
	Values attr.Item

	parsed bool
	used   map[string]bool
}

// attribute gives the attribute name behind a #placeholder.
func (s *Scope) attribute(what, placeholder string) (string, error) {
	real, ok := s.Names[placeholder]
	if !ok {
		return "", attr.Refuse("Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s", what, placeholder)
	}
	s.use(placeholder)
	return real, nil
}

// constant gives the value behind a :placeholder.
func (s *Scope) constant(what, placeholder string) (attr.Value, error) {
	v, ok := s.Values[placeholder]
	if !ok {
		return nil, attr.Refuse("Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s", what, placeholder)
	}
	s.use(placeholder)
	kept, err := attr.Stored(v)
	if err != nil {
		return nil, attr.Refuse("ExpressionAttributeValues contains invalid value: %s for key %s", err, placeholder)
	}
	return kept, nil
}

func (s *Scope) use(placeholder string) {
	if s.used == nil {
		s.used = map[string]bool{}
	}
	s.used[placeholder] = true
}

// Unused refuses placeholders that no expression of the request used, and placeholders without any expression.
func (s *Scope) Unused() error {
	if err := s.empty(); err != nil {
		return err
	}
	if err := s.left("ExpressionAttributeNames", slices.Sorted(maps.Keys(s.Names))); err != nil {
		return err
	}
	return s.left("ExpressionAttributeValues", slices.Sorted(maps.Keys(s.Values)))
}

func (s *Scope) empty() error {
	switch {
	case s.Names != nil && !s.parsed:
		return attr.Refuse("ExpressionAttributeNames can only be specified when using expressions")
	case s.Values != nil && !s.parsed:
		return attr.Refuse("ExpressionAttributeValues can only be specified when using expressions")
	case s.Names != nil && len(s.Names) == 0:
		return attr.Refuse("ExpressionAttributeNames must not be empty")
	case s.Values != nil && len(s.Values) == 0:
		return attr.Refuse("ExpressionAttributeValues must not be empty")
	}
	return nil
}

func (s *Scope) left(field string, placeholders []string) error {
	unused := slices.DeleteFunc(placeholders, func(p string) bool { return s.used[p] })
	if len(unused) == 0 {
		return nil
	}
	return attr.Refuse("Value provided in %s unused in expressions: keys: {%s}", field, strings.Join(unused, ", "))
}
