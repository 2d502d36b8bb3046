package pattern

import (
	"fmt"
	"strings"
)

// test is one condition on a leaf: a text, a json.Number, a bool or nil.
type test struct {
	holds  func(leaf any) bool
	absent bool // holds where there is no leaf, and only there
}

func compileTest(v any) (test, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return exactly(v)
	}
	if len(object) != 1 {
		return test{}, fmt.Errorf("a condition has exactly one operator")
	}
	for op, arg := range object {
		return compileOperator(op, arg)
	}
	panic("unreachable")
}

func compileOperator(op string, arg any) (test, error) {
	switch op {
	case "exists":
		there, ok := arg.(bool)
		if !ok {
			return test{}, fmt.Errorf("exists takes true or false")
		}
		return test{holds: func(any) bool { return there }, absent: !there}, nil
	case "numeric":
		return numeric(arg)
	case "cidr":
		return cidr(arg)
	case "anything-but":
		return anythingBut(arg)
	case "prefix", "suffix", "equals-ignore-case", "wildcard":
		match, err := textOperator(op, arg)
		return onText(match), err
	}
	return test{}, fmt.Errorf("unrecognized operator %q", op)
}

func onText(match func(string) bool) test {
	return test{holds: func(leaf any) bool {
		s, ok := leaf.(string)
		return ok && match(s)
	}}
}

func exactly(want any) (test, error) {
	if _, ok := want.([]any); ok {
		return test{}, fmt.Errorf("an array inside an array matches nothing")
	}
	return test{holds: func(leaf any) bool { return leaf == want }}, nil
}

// textOperator is a comparison of texts. prefix and suffix also take {"equals-ignore-case": text}.
func textOperator(op string, arg any) (func(string) bool, error) {
	if object, ok := arg.(map[string]any); ok && (op == "prefix" || op == "suffix") && len(object) == 1 {
		if s, ok := object["equals-ignore-case"].(string); ok {
			return affixFold(op, s), nil
		}
	}
	want, ok := arg.(string)
	if !ok {
		return nil, fmt.Errorf("%s takes a text", op)
	}
	switch op {
	case "prefix":
		return func(s string) bool { return strings.HasPrefix(s, want) }, nil
	case "suffix":
		return func(s string) bool { return strings.HasSuffix(s, want) }, nil
	case "equals-ignore-case":
		return func(s string) bool { return strings.EqualFold(s, want) }, nil
	case "wildcard":
		return wildcard(want)
	}
	return nil, fmt.Errorf("unrecognized operator %q", op)
}

func affixFold(op, want string) func(string) bool {
	want = strings.ToLower(want)
	return func(s string) bool {
		s = strings.ToLower(s)
		if op == "prefix" {
			return strings.HasPrefix(s, want)
		}
		return strings.HasSuffix(s, want)
	}
}

// wildcard understands * for any characters, and \* and \\ for those characters themselves.
func wildcard(text string) (func(string) bool, error) {
	parts := []string{""}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
			if i == len(text) || (text[i] != '*' && text[i] != '\\') {
				return nil, fmt.Errorf(`wildcard: after a backslash only * or another backslash may stand`)
			}
			parts[len(parts)-1] += text[i : i+1]
		case text[i] == '*' && strings.HasPrefix(text[i+1:], "*"):
			return nil, fmt.Errorf("wildcard: two * in a row are not allowed")
		case text[i] == '*':
			parts = append(parts, "")
		default:
			parts[len(parts)-1] += text[i : i+1]
		}
	}
	return func(s string) bool { return matchParts(s, parts) }, nil
}

// matchParts reports whether s is the parts in order with anything between them.
func matchParts(s string, parts []string) bool {
	if len(parts) == 1 {
		return s == parts[0]
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}

// anythingBut takes a value, a list of values, or a text operator with one or more texts.
func anythingBut(arg any) (test, error) {
	var alternatives []test
	add := func(t test, err error) error {
		alternatives = append(alternatives, t)
		return err
	}
	switch arg := arg.(type) {
	case map[string]any:
		if len(arg) != 1 {
			return test{}, fmt.Errorf("anything-but takes exactly one operator")
		}
		for op, inner := range arg {
			for _, v := range many(inner) {
				match, err := textOperator(op, v)
				if err != nil {
					return test{}, fmt.Errorf("anything-but: %w", err)
				}
				alternatives = append(alternatives, onText(match))
			}
		}
	default:
		for _, v := range many(arg) {
			if err := add(exactly(v)); err != nil {
				return test{}, fmt.Errorf("anything-but: %w", err)
			}
		}
	}
	if len(alternatives) == 0 {
		return test{}, fmt.Errorf("anything-but takes at least one value")
	}
	return test{holds: func(leaf any) bool {
		for _, t := range alternatives {
			if t.holds(leaf) {
				return false
			}
		}
		return true
	}}, nil
}

func many(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}
