package bedrock

import (
	"encoding/json"
	"fmt"
	"regexp"
)

var (
	toolName  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	toolUseID = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`)
)

func (c checker) tools() *Error {
	if c.req.Tools == nil {
		return nil
	}
	if len(c.req.Tools.Tools) == 0 {
		return constraint("[]", "toolConfig.tools", "Member must have length greater than or equal to 1")
	}
	seen := map[string]int{}
	for i, t := range c.req.Tools.Tools {
		if t.Spec == nil {
			if t.Kind != "cachePoint" && t.Kind != "systemTool" {
				return union(fmt.Sprintf("toolConfig.tools.%d", i))
			}
			continue
		}
		if e := checkSpec(i, *t.Spec); e != nil {
			return e
		}
		if first, twice := seen[t.Spec.Name]; twice {
			return invalid("The tool %s is already defined at toolConfig.tools.%d.", t.Spec.Name, first)
		}
		seen[t.Spec.Name] = i
	}
	if len(seen) == 0 {
		return invalid("The toolConfig.tools field must contain at least one tool.")
	}
	return nil
}

func checkSpec(i int, spec ToolSpec) *Error {
	at := fmt.Sprintf("toolConfig.tools.%d.member.toolSpec", i+1)
	switch {
	case len(spec.Name) > 64:
		return constraint(spec.Name, at+".name", "Member must have length less than or equal to 64")
	case !toolName.MatchString(spec.Name):
		return constraint(spec.Name, at+".name", "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+")
	case spec.Description != nil && blank(*spec.Description):
		return constraint(*spec.Description, at+".description", "Member must have length greater than or equal to 1")
	case !isObject(spec.InputSchema.JSON):
		return invalid("The format of the value at toolConfig.tools.%d.toolSpec.inputSchema.json is invalid. Provide a json object for the field and try again.", i)
	}
	return checkSchema(i, spec.InputSchema.JSON)
}

func checkSchema(i int, raw json.RawMessage) *Error {
	var schema map[string]json.RawMessage
	_ = json.Unmarshal(raw, &schema) // it is an object: that was checked
	if string(schema["type"]) != `"object"` {
		return invalid("The value at toolConfig.tools.%d.toolSpec.inputSchema.json.type must be one of the following: object.", i)
	}
	for _, word := range []string{"oneOf", "allOf", "anyOf", "$ref"} {
		if _, there := schema[word]; there {
			return invalid("tools.%d.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", i)
		}
	}
	return nil
}

// choice: a named tool must exist, and reasoning cannot be forced into a call.
func (c checker) choice() *Error {
	if c.req.Tools == nil || c.req.Tools.Choice == nil {
		return nil
	}
	ch := c.req.Tools.Choice
	if one(ch.Auto != nil)+one(ch.Any != nil)+one(ch.Tool != nil) != 1 {
		return union("toolConfig.toolChoice")
	}
	if ch.Auto == nil && reasoningOn(c.req.Extra) {
		return invalid("Thinking may not be enabled when tool_choice forces tool use.")
	}
	if ch.Auto == nil && unforced.MatchString(c.req.ModelID) {
		return invalid("The model returned the following errors: tool_choice: type \"tool\" and \"any\" are not supported for this model.")
	}
	if ch.Tool == nil {
		return nil
	}
	for _, spec := range c.req.Specs() {
		if spec.Name == ch.Tool.Name {
			return nil
		}
	}
	return invalid("The tool %s of toolConfig.toolChoice is not in toolConfig.tools.", ch.Tool.Name)
}

// reasoningOn reports whether the model's own request fields switch reasoning on.
func reasoningOn(extra json.RawMessage) bool {
	var fields map[string]struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(extra, &fields) // other shapes mean no reasoning
	return fields["thinking"].Type == "enabled" || fields["reasoning_config"].Type == "enabled" || fields["reasoningConfig"].Type == "enabled"
}
