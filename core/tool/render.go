package tool

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// render writes a schema that was inferred, to the byte as the library does, which takes ten times as long: it looks at sixty keywords by
// reflection, and again at what it has written of each schema inside. Only what inference makes is known here.
func render(s *jsonschema.Schema) (json.RawMessage, error) {
	var r renderer
	r.schema(s)
	return r.out, r.err
}

type renderer struct {
	out []byte
	err error
}

func (r *renderer) schema(s *jsonschema.Schema) {
	start := len(r.out)
	r.out = append(r.out, '{')
	if s.Type != "" {
		r.field("type", s.Type)
	}
	if s.Types != nil {
		r.field("type", s.Types)
	}
	if s.Properties != nil {
		r.named("properties", s.Properties, s.PropertyOrder)
	}
	r.inner("items", s.Items)
	if s.Ref != "" {
		r.field("$ref", s.Ref)
	}
	if len(s.Defs) > 0 {
		r.named("$defs", s.Defs, slices.Sorted(maps.Keys(s.Defs)))
	}
	r.bounds(s)
	r.inner("additionalProperties", s.AdditionalProperties)
	if len(s.AnyOf) > 0 {
		r.key("anyOf")
		r.list(s.AnyOf)
	}
	r.inner("not", s.Not)
	if s.ContentEncoding != "" {
		r.field("contentEncoding", s.ContentEncoding)
	}
	if s.Format != "" {
		r.field("format", s.Format)
	}
	r.out = append(r.out, '}')
	switch string(r.out[start:]) { // all, and nothing
	case `{}`:
		r.out = append(r.out[:start], "true"...)
	case `{"not":true}`:
		r.out = append(r.out[:start], "false"...)
	}
}

// bounds are the keywords whose values are no schemas.
func (r *renderer) bounds(s *jsonschema.Schema) {
	if s.Description != "" {
		r.field("description", s.Description)
	}
	if len(s.Default) > 0 {
		r.field("default", s.Default)
	}
	if len(s.Enum) > 0 {
		r.field("enum", s.Enum)
	}
	if s.Minimum != nil {
		r.field("minimum", *s.Minimum)
	}
	if s.Maximum != nil {
		r.field("maximum", *s.Maximum)
	}
	if s.Pattern != "" {
		r.field("pattern", s.Pattern)
	}
	if s.MinItems != nil {
		r.field("minItems", *s.MinItems)
	}
	if s.MaxItems != nil {
		r.field("maxItems", *s.MaxItems)
	}
	if len(s.Required) > 0 {
		r.field("required", s.Required)
	}
}

func (r *renderer) inner(name string, s *jsonschema.Schema) {
	if s != nil {
		r.key(name)
		r.schema(s)
	}
}

func (r *renderer) named(name string, all map[string]*jsonschema.Schema, order []string) {
	r.key(name)
	r.out = append(r.out, '{')
	for _, name := range order {
		r.inner(name, all[name])
	}
	r.out = append(r.out, '}')
}

func (r *renderer) list(all []*jsonschema.Schema) {
	for i, s := range all {
		r.out = append(r.out, "[,"[min(i, 1)])
		r.schema(s)
	}
	r.out = append(r.out, ']')
}

func (r *renderer) field(name string, value any) {
	r.key(name)
	r.value(value)
}

// key begins a member of the object that is open.
func (r *renderer) key(name string) {
	if r.out[len(r.out)-1] != '{' {
		r.out = append(r.out, ',')
	}
	r.value(name)
	r.out = append(r.out, ':')
}

func (r *renderer) value(v any) {
	data, err := json.Marshal(v)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.out = append(r.out, data...)
}
