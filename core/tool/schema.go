package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputOf infers the schema of In and makes it one that model services accept.
func inputOf[In any]() (input, error) {
	t := reflect.TypeFor[In]()
	s, err := inferred(t)
	if err != nil {
		return input{}, err
	}
	if s.Type != "object" {
		return input{}, fmt.Errorf("%v is no struct and no map", t)
	}
	return resolved(s)
}

// inferred is the schema of t with all that its tags say.
func inferred(t reflect.Type) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: wireTypes()})
	if err != nil {
		return nil, err
	}
	acceptNoNull(s)
	if err := applyTags(t, s); err != nil {
		return nil, err
	}
	for sub := range schemas(s) {
		tidy(sub)
	}
	return s, nil
}

// resolved makes s ready for checks.
func resolved(s *jsonschema.Schema) (in input, err error) {
	in.schema = s
	if in.resolved, err = s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
		return input{}, err
	}
	in.json, err = json.Marshal(s)
	return in, err
}

// wireTypes are the types whose JSON form is not that of their kind.
func wireTypes() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[json.Number]():     {Type: "number"},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
	}
}

// tidy takes back the nulls that Go's zero values allow but a model need not know of: in arrays and in optional properties.
// A null in an optional property is read as absent anyway.
func tidy(s *jsonschema.Schema) {
	if slices.Contains(s.Types, "array") {
		acceptNoNull(s)
	}
	for name, p := range s.Properties {
		if !slices.Contains(s.Required, name) {
			acceptNoNull(p)
		}
	}
}

// acceptNoNull turns ["null", x] into x.
func acceptNoNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

// schemas yields s and everything inside it that inference can make.
func schemas(s *jsonschema.Schema) func(yield func(*jsonschema.Schema) bool) {
	return func(yield func(*jsonschema.Schema) bool) { walk(s, yield) }
}

func walk(s *jsonschema.Schema, yield func(*jsonschema.Schema) bool) bool {
	if s == nil {
		return true
	}
	if !yield(s) || !walk(s.Items, yield) || !walk(s.AdditionalProperties, yield) {
		return false
	}
	for _, p := range s.Properties {
		if !walk(p, yield) {
			return false
		}
	}
	return true
}

// applyTags puts the default and enum tags of t's fields, also nested ones, into its schema.
func applyTags(t reflect.Type, s *jsonschema.Schema) error {
	switch t.Kind() {
	case reflect.Pointer:
		return applyTags(t.Elem(), s)
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			return applyTags(t.Elem(), s.Items)
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			return applyTags(t.Elem(), s.AdditionalProperties)
		}
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			if err := applyFieldTags(field, s); err != nil {
				return fmt.Errorf("field %s: %w", field.Name, err)
			}
		}
	}
	return nil
}

func applyFieldTags(field reflect.StructField, parent *jsonschema.Schema) error {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" {
		name = field.Name
	}
	p := parent.Properties[name]
	if p == nil || field.Anonymous || !field.IsExported() {
		return nil
	}
	if tag, ok := field.Tag.Lookup("enum"); ok {
		for word := range strings.SplitSeq(tag, ",") {
			var value any
			if err := json.Unmarshal(literal(field.Type, word), &value); err != nil {
				return fmt.Errorf("enum %q: %w", word, err)
			}
			p.Enum = append(p.Enum, value)
		}
	}
	if tag, ok := field.Tag.Lookup("default"); ok {
		p.Default = literal(field.Type, tag)
		parent.Required = slices.DeleteFunc(parent.Required, func(r string) bool { return r == name })
	}
	return applyTags(field.Type, p)
}

// literal reads a tag's value: text for a string field, else JSON.
func literal(t reflect.Type, tag string) json.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.String && t != reflect.TypeFor[json.Number]() {
		quoted, _ := json.Marshal(tag) // a string always has a JSON form
		return quoted
	}
	return json.RawMessage(tag)
}
