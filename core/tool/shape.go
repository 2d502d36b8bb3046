package tool

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Shape is the form that an answer must have: a JSON schema and the check of a value against it that names every place which
// does not fit. Make one with ShapeOf or ShapeFrom. It is safe for concurrent use.
type Shape struct {
	input   input
	wrapped bool                                // the schema is not one of objects: the value stands in the property "value"
	texts   map[*jsonschema.Schema]reflect.Type // what the strings at these places are read into
}

// value is the property in which a value stands that is no object; a model service takes objects only.
const value = "value"

// Problem is one thing that is wrong with a value.
type Problem struct {
	Path string // "lines[2].price"; "" is the whole value
	Text string // "missing"
}

// String is path and text in one line.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// ShapeOf infers the form of a T as New does that of an input, with the same tags. Faults: Invalid, for what JSON cannot be read
// into.
func ShapeOf[T any]() (Shape, error) {
	t := reflect.TypeFor[T]()
	s, texts, err := inferred(t)
	if err != nil {
		return Shape{}, fault.Wrap(fault.Invalid, err, "schema of %v", t)
	}
	shape, err := shapeFrom(s)
	shape.texts = texts
	return shape, err
}

// ShapeFrom takes a schema as it is: draft 2020-12 or 7, with references only into itself. s is not changed and must not be
// changed afterwards. Faults: Invalid.
func ShapeFrom(s *jsonschema.Schema) (Shape, error) {
	if s == nil {
		return Shape{}, fault.New(fault.Invalid, "there is no schema")
	}
	return shapeFrom(s.CloneSchemas())
}

func shapeFrom(s *jsonschema.Schema) (Shape, error) {
	var shape Shape
	if s.Type != "object" && (s.Type != "" || len(s.Types) > 0) {
		outer := &jsonschema.Schema{
			Type: "object", Properties: map[string]*jsonschema.Schema{value: s}, Required: []string{value},
			AdditionalProperties: nothing(), Defs: s.Defs, Definitions: s.Definitions, Schema: s.Schema,
		}
		s.Defs, s.Definitions, s.Schema = nil, nil, ""
		s, shape.wrapped = outer, true
	}
	var err error
	if shape.input, err = resolved(s); err != nil {
		return Shape{}, fault.Wrap(fault.Invalid, err, "schema")
	}
	return shape, nil
}

// nothing is the schema that no value fits.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// Schema is the form as a JSON schema of objects. A shape of other values has theirs in its one property "value".
func (s Shape) Schema() json.RawMessage { return s.input.json }

// Check compares raw with the shape: it gives the value, with defaults filled in and every number as it was written, or what is
// wrong with it. A value that is not an object may come bare or as {"value": ...}, and is returned bare.
func (s Shape) Check(raw json.RawMessage) (json.RawMessage, []Problem) {
	object, err := decode(raw)
	if err != nil && s.wrapped && json.Valid(raw) {
		object, err = decode(slices.Concat([]byte(`{"`+value+`":`), raw, []byte("}")))
	}
	if err != nil {
		return nil, []Problem{{Text: "no JSON object"}}
	}
	s.input.complete(object, s.input.schema)
	c := checker{root: s.input.schema, outer: s.wrapped, texts: s.texts}
	c.value("", floats(object), s.input.schema)
	if len(c.problems) == 0 {
		if err := s.input.validate(object); err != nil {
			c.add("", inputProblem(err))
		}
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	var whole any = object
	if s.wrapped {
		whole = object[value]
	}
	clean, err := json.Marshal(whole)
	if err != nil {
		return nil, []Problem{{Text: "not to be written as JSON"}}
	}
	return clean, nil
}

// Misfit is err, which came from decoding a value that fits its schema, as a problem: a number too large for its field, say.
func Misfit(err error) Problem {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return Problem{typeErr.Field, "a " + typeErr.Value + " that does not fit a " + typeErr.Type.String()}
	}
	return Problem{Text: "not readable: " + err.Error()}
}

// checker walks value and schema together, as far as the schema is plain; the rest it leaves to the library's validator.
type checker struct {
	root     *jsonschema.Schema
	outer    bool // the outermost object is none of the caller's
	texts    map[*jsonschema.Schema]reflect.Type
	problems []Problem
}

// maxProblems is how many are told: more help nobody.
const maxProblems = 20

func (c *checker) add(path, text string) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, Problem{path, Cut(text, 300)})
	}
}

func (c *checker) value(path string, v any, s *jsonschema.Schema) {
	if s = follow(c.root, s); s == nil {
		return
	}
	before := len(c.problems)
	switch v := v.(type) {
	case map[string]any:
		if s.Type == "object" && plain(s) {
			c.object(path, v, s)
			if len(c.problems) == before && sized(s) {
				c.leaf(path, v, s)
			}
			return
		}
	case []any:
		if s.Type == "array" && s.Items != nil && plain(s) {
			for i, item := range v {
				c.value(path+"["+strconv.Itoa(i)+"]", item, s.Items)
			}
			if len(c.problems) == before && sized(s) {
				c.leaf(path, v, s)
			}
			return
		}
	}
	c.leaf(path, v, s)
	if t := c.texts[s]; t != nil && len(c.problems) == before {
		c.text(path, v, t)
	}
}

// text has a string read into its type, which may take only some: a time, an address.
func (c *checker) text(path string, v any, t reflect.Type) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, reflect.New(t).Interface())
	}
	if err != nil {
		c.add(path, "not readable: "+err.Error())
	}
}

func (c *checker) object(path string, v map[string]any, s *jsonschema.Schema) {
	at := func(name string) string {
		switch {
		case path == "" && c.outer && name == value:
			return ""
		case path == "":
			return name
		}
		return path + "." + name
	}
	for _, name := range s.Required {
		if _, given := v[name]; !given {
			c.add(at(name), "missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		p, known := s.Properties[name]
		if !known {
			p = s.AdditionalProperties
		}
		if !known && p != nil && p.Not != nil {
			c.add(at(Cut(name, 80)), "not expected")
			continue
		}
		c.value(at(name), v[name], p)
	}
}

// leaf asks the validator. A reference that leads out of what the leaf can see is left to the check of the whole.
func (c *checker) leaf(path string, v any, s *jsonschema.Schema) {
	alone := *s
	alone.Defs, alone.Definitions = c.root.Defs, c.root.Definitions
	resolved, err := alone.Resolve(nil)
	if err != nil {
		return
	}
	if err := resolved.Validate(v); err != nil {
		c.add(path, inputProblem(err))
	}
}

// plain reports whether s says nothing of the members of objects and arrays that the walk does not look at itself.
func plain(s *jsonschema.Schema) bool {
	return s.Ref == "" && s.DynamicRef == "" && len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0 && s.Not == nil && s.If == nil &&
		len(s.PatternProperties)+len(s.DependentSchemas)+len(s.DependencySchemas) == 0 && s.PropertyNames == nil &&
		len(s.PrefixItems)+len(s.ItemsArray) == 0 && s.Contains == nil && s.UnevaluatedItems == nil && s.UnevaluatedProperties == nil
}

// sized reports whether s says something of an object or array as a whole.
func sized(s *jsonschema.Schema) bool {
	return s.Enum != nil || s.Const != nil || s.MinItems != nil || s.MaxItems != nil || s.UniqueItems ||
		s.MinProperties != nil || s.MaxProperties != nil || len(s.DependentRequired)+len(s.DependencyStrings) > 0
}
