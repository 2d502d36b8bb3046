package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
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

// resolved makes s ready for checks.
func resolved(s *jsonschema.Schema) (in input, err error) {
	in.schema = s
	if in.resolved, err = s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
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
