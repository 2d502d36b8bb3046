// Package expr reads DynamoDB's expressions (condition, filter, key condition, update and projection) into values that
// can be asked or applied, and refuses what DynamoDB refuses, with DynamoDB's words: syntax errors, reserved words,
// placeholders that are undefined or unused, operands of a wrong type, overlapping paths.
//
// Expressions are parsed with their placeholders in place: names are never pasted into the text, so a name may hold
// dots, spaces or keywords. Applying an update returns a new item and leaves the old one as it was. The package
// knows no tables; errors of the request are value.Fault.
package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// MaxLength is the most bytes of one expression.
const MaxLength = 4096

// Scope holds the placeholders of one request and notes which of them its expressions used. Names and Values may be nil.
type Scope struct {
	Names  map[string]string
	Values map[string]value.Value
	used   map[string]bool
}

// Check refuses placeholders that no expression parsed with this scope used. any tells whether the request had an
// expression at all.
func (s *Scope) Check(any bool) error {
	if err := checkGroup("ExpressionAttributeNames", s.Names, any, s.used); err != nil {
		return err
	}
	return checkGroup("ExpressionAttributeValues", s.Values, any, s.used)
}

func checkGroup[V any](group string, defined map[string]V, any bool, used map[string]bool) error {
	if defined == nil {
		return nil
	}
	if len(defined) == 0 {
		return faultf("%s must not be empty", group)
	}
	if !any {
		return faultf("%s can only be specified when using expressions", group)
	}
	var unused []string
	for _, k := range slices.Sorted(maps.Keys(defined)) {
		if !used[k] {
			unused = append(unused, k)
		}
	}
	if len(unused) > 0 {
		return faultf("Value provided in %s unused in expressions: keys: {%s}", group, strings.Join(unused, ", "))
	}
	return nil
}

func (s *Scope) name(placeholder string) (string, bool) {
	s.note(placeholder)
	n, ok := s.Names[placeholder]
	return n, ok
}

func (s *Scope) value(placeholder string) (value.Value, bool) {
	s.note(placeholder)
	v, ok := s.Values[placeholder]
	return v, ok
}

func (s *Scope) note(placeholder string) {
	if s.used == nil {
		s.used = map[string]bool{}
	}
	s.used[placeholder] = true
}

func faultf(format string, args ...any) error { return value.Fault(fmt.Sprintf(format, args...)) }
