// Package pattern matches events against EventBridge event patterns: exact values, prefix, suffix, wildcard,
// equals-ignore-case, anything-but, numeric, exists, cidr, null, empty text, nested objects, arrays in the event and $or.
//
// A pattern that EventBridge would refuse is refused when it is compiled, with the path of the mistake. Numbers are
// equal when they are written the same way, as EventBridge documents it; only the numeric operator compares magnitudes.
package pattern

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Pattern is a compiled event pattern, safe for concurrent use. The zero value matches everything.
type Pattern struct {
	fields map[string]field
	or     []Pattern
}

// field is what a pattern asks of one name: a nested pattern, or one of several tests.
type field struct {
	nested *Pattern
	tests  []test
	absent bool // {"exists": false} is among the tests
}

// Compile reads a pattern, which is a JSON object.
func Compile(b []byte) (Pattern, error) {
	v, err := decode(b)
	if err != nil {
		return Pattern{}, fmt.Errorf("event pattern is not valid JSON: %w", err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return Pattern{}, fmt.Errorf("event pattern is not valid: a JSON object is due")
	}
	p, err := compile(object, "")
	if err != nil {
		return Pattern{}, fmt.Errorf("event pattern is not valid: %w", err)
	}
	return p, nil
}

// MatchJSON reports whether the event, a JSON object, matches; what is not one matches nothing.
func (p Pattern) MatchJSON(event []byte) bool {
	v, err := decode(event)
	object, ok := v.(map[string]any)
	return err == nil && ok && p.match(object)
}

func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more follows after the value")
	}
	return v, nil
}

func compile(object map[string]any, path string) (Pattern, error) {
	if len(object) == 0 {
		return Pattern{}, fmt.Errorf("%q: an empty object matches nothing", path)
	}
	p := Pattern{fields: map[string]field{}}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := strings.TrimPrefix(path+"."+name, ".")
		if list, ok := object[name].([]any); ok && name == "$or" {
			or, err := compileOr(list, at)
			if err != nil {
				return Pattern{}, err
			}
			p.or = or
			continue
		}
		f, err := compileField(object[name], at)
		if err != nil {
			return Pattern{}, err
		}
		p.fields[name] = f
	}
	return p, nil
}

func compileOr(list []any, path string) ([]Pattern, error) {
	if len(list) < 2 {
		return nil, fmt.Errorf("%q: at least two alternatives are due", path)
	}
	var out []Pattern
	for _, v := range list {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%q: every alternative must be an object", path)
		}
		p, err := compile(object, path)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func compileField(v any, path string) (field, error) {
	switch v := v.(type) {
	case map[string]any:
		p, err := compile(v, path)
		return field{nested: &p}, err
	case []any:
		if len(v) == 0 {
			return field{}, fmt.Errorf("%q: an empty array matches nothing", path)
		}
		var f field
		for _, c := range v {
			t, err := compileTest(c)
			if err != nil {
				return field{}, fmt.Errorf("%q: %w", path, err)
			}
			f.tests = append(f.tests, t)
			f.absent = f.absent || t.absent
		}
		return f, nil
	}
	return field{}, fmt.Errorf("%q: the value must be an object or an array", path)
}

func (p Pattern) match(event map[string]any) bool {
	for name, f := range p.fields {
		v, there := event[name]
		if !f.match(v, there) {
			return false
		}
	}
	return len(p.or) == 0 || slices.ContainsFunc(p.or, func(o Pattern) bool { return o.match(event) })
}

func (f field) match(v any, there bool) bool {
	if f.nested != nil {
		return f.matchNested(v)
	}
	leaves := leaves(v, there)
	if len(leaves) == 0 {
		return f.absent
	}
	for _, leaf := range leaves {
		for _, t := range f.tests {
			if !t.absent && t.holds(leaf) {
				return true
			}
		}
	}
	return false
}

// matchNested looks into an object, or into the objects of an array; where there is none, only absence can match.
func (f field) matchNested(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return f.nested.match(v)
	case []any:
		if slices.ContainsFunc(v, f.matchNested) {
			return true
		}
	}
	return f.nested.match(nil)
}

// leaves are the values of a field that tests look at: itself, or the elements of an array. Objects are no leaves.
func leaves(v any, there bool) []any {
	if !there {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return nil
	case []any:
		var out []any
		for _, e := range v {
			out = append(out, leaves(e, true)...)
		}
		return out
	}
	return []any{v}
}
