package bedrock

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// OutputConfig asks for text that fits a schema.
type OutputConfig struct {
	TextFormat *struct {
		Type      string `json:"type"`
		Structure struct {
			JSONSchema *struct {
				Name   string `json:"name"`
				Schema string `json:"schema"`
			} `json:"jsonSchema"`
		} `json:"structure"`
	} `json:"textFormat"`
}

// textSchema is the schema that the text must fit, nil if there is none.
func (r Request) textSchema() json.RawMessage {
	if r.Output == nil || r.Output.TextFormat == nil || r.Output.TextFormat.Structure.JSONSchema == nil {
		return nil
	}
	return json.RawMessage(r.Output.TextFormat.Structure.JSONSchema.Schema)
}

// structured are the models that can be held to a schema.
var structured = regexp.MustCompile(`anthropic\.claude-(?:(?:haiku|sonnet|opus)-4-[5-9]|[a-z]+-[5-9])`)

// compiled are the words of a schema that the service can hold a text to.
var compiled = []string{
	"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "definitions",
	"description", "title", "default", "format",
}

// format refuses a schema for the text that the model or the service cannot follow.
func (c checker) format() *Error {
	if c.req.Output == nil || c.req.Output.TextFormat == nil {
		return nil
	}
	raw := c.req.textSchema()
	switch {
	case !structured.MatchString(c.req.ModelID):
		return invalid("This model does not support the outputConfig.textFormat field.")
	case c.req.Output.TextFormat.Type != "json_schema" || raw == nil:
		return union("outputConfig.textFormat.structure")
	case !isObject(raw):
		return invalid("The value at outputConfig.textFormat.structure.jsonSchema.schema is not a JSON object.")
	}
	var schema any
	_ = json.Unmarshal(raw, &schema) // it is an object: that was checked
	return closed("schema", schema)
}

// closed wants objects that name all they may have, in words that can be compiled.
func closed(at string, v any) *Error {
	s, ok := v.(map[string]any)
	if !ok {
		return invalid("output_config.format.schema: %s must be an object.", at)
	}
	for word := range s {
		if !slices.Contains(compiled, word) {
			return invalid("output_config.format.schema: For '%v' type, property '%s' is not supported", s["type"], word)
		}
	}
	if s["type"] == "object" && s["additionalProperties"] != false {
		return invalid("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false")
	}
	inner := map[string]any{}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		members, _ := s[word].(map[string]any)
		for name, m := range members {
			inner[at+"."+word+"."+name] = m
		}
	}
	for _, word := range []string{"anyOf", "allOf"} {
		list, _ := s[word].([]any)
		for i, m := range list {
			inner[fmt.Sprintf("%s.%s[%d]", at, word, i)] = m
		}
	}
	if items, has := s["items"]; has {
		inner[at+".items"] = items
	}
	for at, m := range inner {
		if e := closed(at, m); e != nil {
			return e
		}
	}
	return nil
}
