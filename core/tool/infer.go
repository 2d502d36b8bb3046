package tool

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// inferrer makes schemas of Go types: what they say encoding/json reads into the type, so that an input which fits is one that can be
// decoded. A type that holds itself is named in the schema's $defs.
type inferrer struct {
	open  map[reflect.Type]bool // under way
	names map[reflect.Type]string
	defs  map[string]*jsonschema.Schema
	texts map[*jsonschema.Schema]reflect.Type // the types that read text
}

// inferred is the schema of t, or of what t points to, with all that its tags say. texts are the types behind its strings that read only
// some.
func inferred(t reflect.Type) (s *jsonschema.Schema, texts map[*jsonschema.Schema]reflect.Type, err error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	f := inferrer{
		open: map[reflect.Type]bool{}, names: map[reflect.Type]string{}, defs: map[string]*jsonschema.Schema{}, texts: map[*jsonschema.Schema]reflect.Type{},
	}
	if s, err = f.whole(t); err != nil {
		return nil, nil, err
	}
	if len(f.defs) > 0 {
		s.Defs = f.defs
	}
	return s, f.texts, nil
}

// whole is the schema of the outermost type. A model service takes no schema of anything there, so one that reads JSON itself is told by
// its fields.
func (f *inferrer) whole(t reflect.Type) (*jsonschema.Schema, error) {
	if own := ownForm(t); own != nil && own.Type == "" && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map) {
		return f.kind(t)
	}
	return f.of(t)
}

func (f *inferrer) of(t reflect.Type) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Pointer {
		s, err := f.of(t.Elem())
		if err != nil {
			return nil, err
		}
		return orNull(s), nil
	}
	if s := ownForm(t); s != nil {
		if s.Type == "string" {
			f.texts[s] = t
		}
		return s, nil
	}
	if f.open[t] {
		return f.reference(t), nil
	}
	if t.Name() != "" {
		f.open[t] = true
		defer delete(f.open, t)
	}
	s, err := f.kind(t)
	if name, holdsItself := f.names[t]; holdsItself && err == nil {
		f.defs[name] = s.CloneSchemas()
	}
	return s, err
}

// reference names a type that is under way, and so holds itself.
func (f *inferrer) reference(t reflect.Type) *jsonschema.Schema {
	if f.names[t] == "" {
		name, _, _ := strings.Cut(t.Name(), "[") // without the types of a generic one
		name = strings.Map(func(r rune) rune {   // what stands in a reference as it is
			if r > unicode.MaxASCII {
				return -1
			}
			return r
		}, name)
		f.names[t] = fmt.Sprintf("%s%d", name, len(f.names)+1)
	}
	return &jsonschema.Schema{Ref: defs + f.names[t]}
}

const defs = "#/$defs/"

// orNull is s, or null.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Type != "":
		s.Type, s.Types = "", []string{"null", s.Type}
	case s.Ref != "":
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "null"}, s}}
	}
	return s // takes null already
}

// ownForm is the schema of a type whose JSON form is not that of its kind; nil for another. Of one that reads JSON itself nobody knows
// the form, unless it also reads text.
func ownForm(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[big.Int]():
		return &jsonschema.Schema{Type: "integer"}
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	}
	if t.Kind() == reflect.Interface {
		return nil
	}
	switch to := reflect.PointerTo(t); {
	case to.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	case to.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &jsonschema.Schema{}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	}
	return nil
}

func (f *inferrer) kind(t reflect.Type) (*jsonschema.Schema, error) {
	switch t.Kind() {
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int, reflect.Int64:
		return integer(-math.Ldexp(1, t.Bits()-1), t.Bits()-1), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return integer(0, t.Bits()), nil
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}, nil
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}, nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return &jsonschema.Schema{}, nil
		}
	case reflect.Slice, reflect.Array:
		return f.list(t)
	case reflect.Map:
		return f.dictionary(t)
	case reflect.Struct:
		return f.object(t)
	}
	return nil, fmt.Errorf("JSON cannot be read into a %v", t)
}

// integer is from least to 2^bits-1. Bounds that a float64 does not hold are left to the decoding.
func integer(least float64, bits int) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer"}
	if bits <= 53 {
		s.Maximum = new(math.Ldexp(1, bits) - 1)
	}
	if bits <= 53 || least == 0 {
		s.Minimum = &least
	}
	return s
}

func (f *inferrer) list(t reflect.Type) (*jsonschema.Schema, error) {
	items, err := f.of(t.Elem())
	if err != nil {
		return nil, err
	}
	s := &jsonschema.Schema{Type: "array", Items: items}
	if t.Kind() == reflect.Array {
		s.MinItems, s.MaxItems = new(t.Len()), new(t.Len())
	}
	return s, nil
}

func (f *inferrer) dictionary(t reflect.Type) (*jsonschema.Schema, error) {
	_, err := f.kind(t.Key())
	text := reflect.PointerTo(t.Key()).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	switch t.Key().Kind() {
	case reflect.Bool, reflect.Float32, reflect.Float64, reflect.Interface, reflect.Array, reflect.Struct:
		err = fmt.Errorf("JSON has no keys of the type %v", t.Key())
	}
	if err != nil && !text {
		return nil, err
	}
	values, err := f.of(t.Elem())
	if err != nil {
		return nil, err
	}
	return &jsonschema.Schema{Type: "object", AdditionalProperties: values}, nil
}

func (f *inferrer) object(t reflect.Type) (*jsonschema.Schema, error) {
	s := &jsonschema.Schema{Type: "object", AdditionalProperties: nothing()}
	for _, m := range membersOf(t) {
		p, err := f.of(m.Type)
		if err == nil {
			p, err = m.described(p)
		}
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", m.Name, err)
		}
		if s.Properties == nil {
			s.Properties = map[string]*jsonschema.Schema{}
		}
		s.Properties[m.name] = p
		s.PropertyOrder = append(s.PropertyOrder, m.name)
		if !m.optional && p.Default == nil {
			s.Required = append(s.Required, m.name)
		}
	}
	return s, nil
}
