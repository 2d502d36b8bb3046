package bedrock

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// Bounds of a sample, for schemas that refer to themselves or ask for much.
const (
	maxDepth  = 12
	maxValues = 1000
)

// schema is the part of a JSON schema that a sample needs.
type schema struct {
	Type       any                `json:"type"` // a name or a list of names
	Const      any                `json:"const"`
	Enum       []any              `json:"enum"`
	Default    any                `json:"default"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	MinItems   int                `json:"minItems"`
	MinLength  int                `json:"minLength"`
	MaxLength  *int               `json:"maxLength"`
	Minimum    *float64           `json:"minimum"`
	Exclusive  *float64           `json:"exclusiveMinimum"`
	Maximum    *float64           `json:"maximum"`
	Format     string             `json:"format"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
	AllOf      []*schema          `json:"allOf"`
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
}

// sample makes the smallest input that fits the tool's schema, as JSON: required properties only, defaults and first
// choices where there are any, texts holding what was asked. A schema it cannot follow gives an empty object.
func sample(spec ToolSpec, ask string) string { return sampleOf(spec.InputSchema.JSON, ask) }

// sampleOf is sample for a schema.
func sampleOf(raw json.RawMessage, ask string) string {
	var root schema
	if json.Unmarshal(raw, &root) != nil {
		return "{}"
	}
	s := &sampler{defs: root.Defs, text: clip(ask, 200), left: maxValues}
	value, ok := s.value(&root, 0).(map[string]any)
	if !ok {
		return "{}"
	}
	data, err := json.Marshal(value)
	if err != nil {
		return "{}"
	}
	return string(data)
}

type sampler struct {
	defs map[string]*schema
	text string
	left int // values that may still be made
}

func (s *sampler) value(sc *schema, depth int) any {
	if s.left--; sc == nil || depth > maxDepth || s.left < 0 {
		return nil
	}
	choices := slices.Concat(sc.AnyOf, sc.OneOf)
	switch {
	case sc.Ref != "":
		return s.value(s.defs[strings.TrimPrefix(sc.Ref, "#/$defs/")], depth+1)
	case sc.Const != nil:
		return sc.Const
	case sc.Default != nil:
		return sc.Default
	case len(sc.Enum) > 0:
		return sc.Enum[0]
	case len(choices) > 0 && sc.Properties == nil:
		return s.value(choices[0], depth+1)
	case len(sc.AllOf) > 0 && sc.Properties == nil:
		return s.value(sc.AllOf[0], depth+1)
	}
	return s.typed(sc, depth)
}

func (s *sampler) typed(sc *schema, depth int) any {
	switch sc.kind() {
	case "object":
		return s.object(sc, depth)
	case "array":
		items := []any{}
		for range min(sc.MinItems, maxValues) {
			items = append(items, s.value(sc.Items, depth+1))
		}
		return items
	case "string":
		return s.string(sc)
	case "integer":
		return math.Ceil(sc.number())
	case "number":
		return sc.number()
	case "boolean":
		return false
	}
	return nil
}

func (s *sampler) object(sc *schema, depth int) map[string]any {
	object := map[string]any{}
	for _, name := range sc.Required {
		if p, ok := sc.Properties[name]; ok {
			object[name] = s.value(p, depth+1)
		}
	}
	return object
}

// formatted is a sample of the formats that have one.
func formatted(format string) string {
	switch format {
	case "date-time":
		return "2026-01-01T00:00:00Z"
	case "date":
		return "2026-01-01"
	case "time":
		return "00:00:00Z"
	case "uri":
		return "https://example.com/"
	case "email":
		return "someone@example.com"
	case "uuid":
		return "00000000-0000-4000-8000-000000000000"
	}
	return ""
}

func (s *sampler) string(sc *schema) string {
	if f := formatted(sc.Format); f != "" {
		return f
	}
	text := []rune(s.text)
	for len(text) < min(sc.MinLength, 10_000) {
		text = append(text, '.')
	}
	if sc.MaxLength != nil && len(text) > *sc.MaxLength {
		text = text[:max(*sc.MaxLength, 0)]
	}
	return string(text)
}

// kind is the type, the first one that is not null if there are several, or "object" if only properties are given.
func (sc *schema) kind() string {
	switch t := sc.Type.(type) {
	case string:
		return t
	case []any:
		for _, name := range t {
			if name, ok := name.(string); ok && name != "null" {
				return name
			}
		}
	}
	if sc.Properties != nil {
		return "object"
	}
	return ""
}

// number is zero, moved into the allowed range.
func (sc *schema) number() float64 {
	n := 0.0
	if sc.Maximum != nil {
		n = min(n, *sc.Maximum)
	}
	if sc.Minimum != nil {
		n = max(n, *sc.Minimum)
	}
	if sc.Exclusive != nil && n <= *sc.Exclusive {
		n = *sc.Exclusive + 1
	}
	return n
}
