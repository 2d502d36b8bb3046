package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputOf infers the schema of In and makes it one that model services accept.
func inputOf[In any]() (input, error) {
	t := reflect.TypeFor[In]()
	s, _, err := inferred(t)
	if err != nil {
		return input{}, err
	}
	if s.Type != "object" {
		return input{}, fmt.Errorf("%v is no struct and no map", t)
	}
	in := inputFrom(s)
	if !certain(s) {
		if _, err := in.resolved(); err != nil {
			return input{}, err
		}
	}
	in.json, err = render(s)
	return in, err
}

// certain reports whether an inferred schema is sound without being looked at: only the defaults of its tags can be wrong, or what
// it refers to. Making a schema ready for checks takes most of the time that a tool needs at a start, and few tools are called.
func certain(s *jsonschema.Schema) bool {
	if s == nil {
		return true
	}
	if !certainDefault(s) || s.Ref != "" || len(s.AnyOf) > 0 || len(s.Defs) > 0 || !certain(s.Items) || !certain(s.AdditionalProperties) {
		return false
	}
	for _, p := range s.Properties {
		if !certain(p) {
			return false
		}
	}
	return true
}

// certainDefault: there is none, or it is a text where any text may be, or one of those that may.
func certainDefault(s *jsonschema.Schema) bool {
	if s.Default == nil {
		return true
	}
	var text string
	if s.Type != "string" || s.Pattern != "" || s.Format != "" || json.Unmarshal(s.Default, &text) != nil {
		return false
	}
	return len(s.Enum) == 0 || slices.Contains(s.Enum, any(text))
}

// inputFrom makes s ready for checks when it is first needed.
func inputFrom(s *jsonschema.Schema) input {
	return input{schema: s, resolved: sync.OnceValues(func() (*jsonschema.Resolved, error) {
		return s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	})}
}

// resolved makes s ready for checks, now.
func resolved(s *jsonschema.Schema) (in input, err error) {
	in = inputFrom(s)
	if _, err = in.resolved(); err != nil {
		return input{}, err
	}
	in.json, err = json.Marshal(s)
	return in, err
}

// follow gives what a reference of s into the definitions of root names. One that leads round in circles is left as it is.
func follow(root, s *jsonschema.Schema) *jsonschema.Schema {
	for range 10 {
		if s == nil {
			return nil
		}
		named := root.Defs[strings.TrimPrefix(s.Ref, defs)]
		if named == nil {
			named = root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
		}
		if s.Ref == "" || named == nil {
			return s
		}
		s = named
	}
	return s
}
