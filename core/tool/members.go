package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// member is a field of a struct as encoding/json sees it: those of embedded structs are the struct's own.
type member struct {
	reflect.StructField
	name     string
	at       []int // where it is: its depth, and the order
	tagged   bool  // the tag names it
	optional bool  // may be left out
	quoted   bool  // stands in text: json:",string"
}

// embedded is a struct whose fields are another's.
type embedded struct {
	reflect.Type
	at []int
}

// membersOf gives the members of a struct in the order of their fields.
func membersOf(t reflect.Type) []member {
	var all []member
	seen := map[reflect.Type]bool{}
	for level := []embedded{{Type: t}}; len(level) > 0; {
		var next []embedded
		for _, e := range level {
			if seen[e.Type] {
				continue
			}
			own, below := membersAt(e)
			all, next = append(all, own...), append(next, below...)
		}
		for _, e := range level {
			seen[e.Type] = true
		}
		level = next
	}
	all = dominant(all)
	slices.SortFunc(all, func(a, b member) int { return slices.Compare(a.at, b.at) })
	return all
}

// membersAt gives the fields of one struct, and the structs embedded in it without a name.
func membersAt(e embedded) (own []member, below []embedded) {
	for i := range e.NumField() {
		field := e.Field(i)
		inner := field.Type
		if inner.Kind() == reflect.Pointer && inner.Name() == "" {
			inner = inner.Elem()
		}
		tag := field.Tag.Get("json")
		within := field.Anonymous && inner.Kind() == reflect.Struct
		if tag == "-" || !field.IsExported() && !within {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !validMember(name) {
			name = ""
		}
		at := append(slices.Clone(e.at), i)
		if within && name == "" {
			below = append(below, embedded{inner, at})
			continue
		}
		m := member{StructField: field, name: cmp.Or(name, field.Name), at: at, tagged: name != ""}
		for option := range strings.SplitSeq(options, ",") {
			m.optional = m.optional || option == "omitempty" || option == "omitzero"
			m.quoted = m.quoted || option == "string"
		}
		own = append(own, m)
	}
	return own, below
}

// validMember reports whether encoding/json takes a name from a tag: it passes over one with quotes, a backslash or a control in it.
func validMember(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
	}) < 0
}

// dominant gives for each name the member that counts: the one nearest to the top, of several there the one that a tag names, and
// none if that is not one.
func dominant(all []member) []member {
	byName := map[string][]member{}
	for _, m := range all {
		byName[m.name] = append(byName[m.name], m)
	}
	var kept []member
	for _, same := range byName {
		slices.SortStableFunc(same, byRank)
		if len(same) == 1 || byRank(same[0], same[1]) != 0 {
			kept = append(kept, same[0])
		}
	}
	return kept
}

func byRank(a, b member) int {
	if c := cmp.Compare(len(a.at), len(b.at)); c != 0 || a.tagged == b.tagged {
		return c
	}
	if a.tagged {
		return -1
	}
	return 1
}

// described is p, the schema of the member's type, with what the tags say. An optional one need not know of null: a null there is
// read as absent anyway.
func (m member) described(p *jsonschema.Schema) (*jsonschema.Schema, error) {
	if m.quoted {
		m.quote(p)
	}
	_, defaults := m.Tag.Lookup("default")
	if m.optional || defaults {
		switch {
		case len(p.Types) == 2:
			p.Type, p.Types = p.Types[1], nil
		case len(p.AnyOf) == 2:
			p = p.AnyOf[1]
		}
	}
	if words, ok := m.Tag.Lookup("jsonschema"); ok {
		if first, _, _ := strings.Cut(words, "="); first != words && !strings.ContainsAny(first, " \t\n") {
			return nil, fmt.Errorf("the tag jsonschema describes the field in words, %q does not", words)
		}
		p.Description = words
	}
	return p, m.values(p)
}

// quote is the form of a number, boolean or text that stands, as JSON, in text; the option means nothing to other types.
func (m member) quote(p *jsonschema.Schema) {
	t := m.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if k := t.Kind(); k != reflect.String && (k < reflect.Bool || k > reflect.Float64) {
		return
	}
	null := len(p.Types) == 2
	switch kind := p.Type + strings.Join(p.Types, ""); strings.TrimPrefix(kind, "null") {
	case "integer":
		*p = jsonschema.Schema{Type: "string", Pattern: "^-?[0-9]+$"}
	case "number":
		*p = jsonschema.Schema{Type: "string"}
	case "boolean":
		*p = jsonschema.Schema{Type: "string", Enum: []any{"true", "false"}}
	case "string":
		*p = jsonschema.Schema{Type: "string", Pattern: `^".*"$`}
	default:
		return
	}
	if null {
		*p = *orNull(p)
	}
}

// values puts the tags enum and default into the schema: of a list, enum is for its items.
func (m member) values(p *jsonschema.Schema) error {
	if tag, ok := m.Tag.Lookup("enum"); ok {
		of := p
		for of.Items != nil {
			of = of.Items
		}
		for word := range strings.SplitSeq(tag, ",") {
			var value any
			if err := json.Unmarshal(literal(of, word), &value); err != nil {
				return fmt.Errorf("enum %q: %w", word, err)
			}
			of.Enum = append(of.Enum, value)
		}
		if len(of.Types) == 2 { // or null
			of.Enum = append(of.Enum, nil)
		}
	}
	if tag, ok := m.Tag.Lookup("default"); ok {
		p.Default = literal(p, tag)
	}
	return nil
}

// literal reads a tag's value: text for what is text, else JSON.
func literal(s *jsonschema.Schema, word string) json.RawMessage {
	if s.Type == "string" || len(s.Types) == 2 && s.Types[1] == "string" {
		quoted, _ := json.Marshal(word) // a string always has a JSON form
		return quoted
	}
	return json.RawMessage(word)
}
