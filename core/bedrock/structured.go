package bedrock

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/core/model"
)

// withSchemas are the models whose text the service holds to a schema: Claude from 4.5 on. Nova has no such thing.
var withSchemas = regexp.MustCompile(`anthropic\.claude-(?:(?:haiku|sonnet|opus)-4-[5-9]|[a-z]+-[5-9])`)

// StructuredOf gives by its id whether a model can be held to a schema. Of a model that is not listed, and of an ARN that does
// not name it, the answer is no: it is offered a tool for the answer instead, which every model with tools takes.
func StructuredOf(modelID string) bool { return withSchemas.MatchString(modelID) }

func (m Model) structured(id string) bool {
	if m.Structured != nil {
		return *m.Structured
	}
	return StructuredOf(id)
}

// answerFormat replaces the tool for the answer by the schema of the text, where model and schema allow it. Reasoning may then stay
// on, for nothing is forced.
func (m Model) answerFormat(id string, req model.Request) (model.Request, *types.OutputConfig) {
	at := slices.IndexFunc(req.Tools, func(t model.ToolSpec) bool { return t.Name == req.AnswerTool })
	if at < 0 || !m.structured(id) {
		return req, nil
	}
	answer := req.Tools[at]
	schema, ok := closedSchema(answer.Schema)
	if !ok {
		return req, nil
	}
	req.Tools = slices.Delete(slices.Clone(req.Tools), at, at+1)
	if req.ToolChoice.Name == answer.Name {
		req.ToolChoice = model.ToolChoice{}
	}
	text := string(schema)
	return req, &types.OutputConfig{TextFormat: &types.OutputFormat{
		Type:      types.OutputFormatTypeJsonSchema,
		Structure: &types.OutputFormatStructureMemberJsonSchema{Value: types.JsonSchemaDefinition{Name: &answer.Name, Schema: &text}},
	}}
}

// What one schema may have at most for the service to compile it.
const (
	maxOptional = 10
	maxUnions   = 16
)

// closedSchema gives a schema in the words that the service compiles: objects with named properties and nothing else, lists,
// enumerations, alternatives. Bounds, patterns, formats and defaults are left out; whoever asked checks them anyway. false: the
// schema cannot be said that way, as one of a map, of a tree, or with more optional properties than are taken.
func closedSchema(schema json.RawMessage) (json.RawMessage, bool) {
	var s map[string]any
	if json.Unmarshal(schema, &s) != nil {
		return nil, false
	}
	var c closer
	closed := c.close(s)
	if c.open || c.optional > maxOptional || c.unions > maxUnions {
		return nil, false
	}
	out, err := json.Marshal(closed)
	return out, err == nil
}

// closer counts what a schema has of things that are limited, and notes whether it is open to more than it names.
type closer struct {
	open             bool
	optional, unions int
}

func (c *closer) close(v any) map[string]any {
	s, ok := v.(map[string]any)
	if !ok {
		c.open = true
		return nil
	}
	for _, word := range []string{"$ref", "$dynamicRef", "allOf", "oneOf", "not", "if", "prefixItems", "patternProperties", "const"} {
		if _, has := s[word]; has {
			c.open = true
			return nil
		}
	}
	out := map[string]any{}
	keep(out, s, "type", "description", "enum")
	if list, union := s["type"].([]any); union {
		c.unions++
		c.open = c.open || slices.Contains(list, any("object")) || slices.Contains(list, any("array"))
	}
	switch {
	case s["anyOf"] != nil:
		c.alternatives(out, s["anyOf"])
	case s["type"] == "object":
		c.object(out, s)
	case s["type"] == "array":
		out["items"] = c.close(s["items"])
	case s["type"] == nil && s["enum"] == nil:
		c.open = true
	}
	return out
}

func (c *closer) alternatives(out map[string]any, v any) {
	c.unions++
	list, _ := v.([]any)
	closed := make([]any, len(list))
	for i, one := range list {
		closed[i] = c.close(one)
	}
	out["anyOf"] = closed
}

func (c *closer) object(out, s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if more, isSchema := s["additionalProperties"].(map[string]any); len(properties) == 0 || isSchema && more["not"] == nil {
		c.open = true
		return
	}
	closed := make(map[string]any, len(properties))
	for name, p := range properties {
		closed[name] = c.close(p)
		if !slices.Contains(required, any(name)) {
			c.optional++
		}
	}
	out["properties"], out["additionalProperties"] = closed, false
	keep(out, s, "required")
}

func keep(out, s map[string]any, words ...string) {
	for _, word := range words {
		if v, has := s[word]; has {
			out[word] = v
		}
	}
}
