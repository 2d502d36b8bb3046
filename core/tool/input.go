package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// check validates raw and gives the JSON to decode: raw itself, or raw with defaults filled in and the nulls of optional
// properties left out. Every number keeps its digits. Nothing and null count as {}.
func (in input) check(raw json.RawMessage) (json.RawMessage, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		raw = json.RawMessage("{}")
	}
	object, err := decode(raw)
	if err != nil {
		return nil, err
	}
	changed := in.complete(object, in.schema)
	if err := in.validate(object); err != nil {
		return nil, err
	}
	if !changed {
		return raw, nil
	}
	return json.Marshal(object)
}

func (in input) validate(object map[string]any) error {
	schema, err := in.resolved()
	if err != nil {
		return err
	}
	return schema.Validate(floats(object))
}

// decode reads one JSON object with its numbers as text.
func decode(raw json.RawMessage) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not valid JSON: more than one value")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("it must be a JSON object")
	}
	return object, nil
}

// complete fills in defaults that are missing, also in lists and nested objects, reads null as none does, and writes whole numbers as
// such where integers are wanted: 2.0 and 1e3 cannot be decoded into one.
func (in input) complete(value any, s *jsonschema.Schema) (changed bool) {
	s = follow(in.schema, s)
	if s != nil && len(s.AnyOf) == 2 && s.AnyOf[0].Type == "null" {
		s = follow(in.schema, s.AnyOf[1])
	}
	if s == nil {
		return false
	}
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if whole, ok := wholeNumber(item, s.Items); ok {
				v[i], changed = whole, true
			}
			changed = in.complete(item, s.Items) || changed
		}
	case map[string]any:
		for name, item := range v {
			p, known := s.Properties[name]
			if !known {
				p = s.AdditionalProperties
			} else if (item == nil || item == "") && in.none(v, name, s) {
				changed = true
				continue
			}
			if whole, ok := wholeNumber(item, p); ok {
				v[name], changed = whole, true
			}
			changed = in.complete(item, p) || changed
		}
		changed = addDefaults(v, s) || changed
	}
	return changed
}

// none reads null, which models write for "none", where it may not stand: as absent if the property is optional, as the empty list if it
// is a list. An empty text is read as absent where only some texts are allowed.
func (in input) none(object map[string]any, name string, s *jsonschema.Schema) bool {
	p, optional := follow(in.schema, s.Properties[name]), !slices.Contains(s.Required, name)
	switch {
	case p.Type == "":
		return false
	case object[name] == "":
		if !optional || len(p.Enum) == 0 || slices.Contains(p.Enum, any("")) {
			return false
		}
		delete(object, name)
	case optional:
		delete(object, name)
	case p.Type == "array":
		object[name] = []any{}
	default:
		return false
	}
	return true
}

// wholeNumber is an integer that was written as another number is: 2.0, 1e3. ok is false for all else.
func wholeNumber(value any, s *jsonschema.Schema) (whole json.Number, ok bool) {
	n, number := value.(json.Number)
	if !number || s == nil || s.Type != "integer" && !slices.Contains(s.Types, "integer") || !strings.ContainsAny(string(n), ".eE") {
		return "", false
	}
	switch f, err := n.Float64(); {
	case err != nil || math.Abs(f) >= 1<<64: // none that fits an integer: not worth the work
		return "", false
	case math.Abs(f) < 1:
		digits, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
		return "0", strings.Trim(digits, "-0.") == ""
	}
	exact, ok := new(big.Rat).SetString(string(n))
	if !ok || !exact.IsInt() {
		return "", false
	}
	return json.Number(exact.Num().String()), true
}

func addDefaults(object map[string]any, s *jsonschema.Schema) (changed bool) {
	for name, p := range s.Properties {
		if _, given := object[name]; !given && p.Default != nil {
			object[name] = p.Default // was validated with the schema
			changed = true
		}
	}
	return changed
}

// floats copies value with numbers the validator can compare. One too large for a float64 counts as the largest: only its
// type and bounds are judged, its digits reach the tool unchanged.
func floats(value any) any {
	switch v := value.(type) {
	case json.RawMessage:
		var plain any
		_ = json.Unmarshal(v, &plain) // a default: checked when the schema was made
		return plain
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return math.Copysign(math.MaxFloat64, f)
		}
		return f
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = floats(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[name] = floats(item)
		}
		return object
	}
	return value
}

// inputProblem is err in words for the model: where in the input, and what is wrong.
func inputProblem(err error) string {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return fmt.Sprintf("%s: a %s does not fit a %s", typeErr.Field, typeErr.Value, typeErr.Type)
	}
	text := strings.ReplaceAll(err.Error(), "validating root: ", "")
	return strings.ReplaceAll(text, "validating ", "")
}
