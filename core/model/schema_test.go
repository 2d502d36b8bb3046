package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/model"
)

func TestP26PlainSchema(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"nothing", ``, `{"type":"object"}`},
		{"null", `null`, `{"type":"object"}`},
		{"no JSON", `{"type":`, `{"type":"object"}`},
		{"a boolean", `true`, `{"type":"object"}`},
		{"acceptable", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/x"}]}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/x"}]}},"required":["a"]}`},
		{"type missing or a list", `{"type":["object","null"],"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`},
		{"properties of a wrong type", `{"type":"object","properties":[1]}`, `{"type":"object"}`},
		{"allOf", `{"description":"d","allOf":[{"properties":{"a":{"maximum":9007199254740993}},"required":["a"]},{"properties":{"b":{}},"required":["b"],"additionalProperties":false}]}`,
			`{"type":"object","description":"d","properties":{"a":{"maximum":9007199254740993},"b":{}},"required":["a","b"]}`},
		{"anyOf requires what all branches require", `{"type":"object","anyOf":[{"properties":{"a":{},"c":{}},"required":["a","c"]},{"properties":{"b":{}},"required":["b","c"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["c"]}`},
		{"oneOf beside properties", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"oneOf":[{"properties":{"a":{},"b":{}}}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a"]}`},
		{"branches that differ", `{"anyOf":[{"properties":{"a":{"type":"string"},"b":{}}},{"properties":{"a":{"type":"number"},"b":{}}}]}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]},"b":{}}}`},
		{"a reference to branches", `{"$ref":"#/$defs/x","$defs":{"x":{"allOf":[{"properties":{"a":{}},"required":["a"]}]}}}`,
			`{"type":"object","properties":{"a":{}},"required":["a"],"$defs":{"x":{"allOf":[{"properties":{"a":{}},"required":["a"]}]}}}`},
		{"a closed list of properties is opened", `{"additionalProperties":false,"properties":{"a":{}},"anyOf":[{"properties":{"b":{}}}]}`,
			`{"type":"object","properties":{"a":{},"b":{}}}`},
		{"a reference", `{"$ref":"#/$defs/in~1put","$defs":{"in/put":{"type":"object","properties":{"a":{}},"required":["a"]}}}`,
			`{"type":"object","$defs":{"in/put":{"type":"object","properties":{"a":{}},"required":["a"]}},"properties":{"a":{}},"required":["a"]}`},
		{"a reference to nothing and one outside", `{"$ref":"#/$defs/x","allOf":[{"$ref":"https://example.com/x"}]}`, `{"type":"object"}`},
		{"a schema that names itself", `{"$defs":{"x":{"$ref":"#/$defs/x"}},"$ref":"#/$defs/x"}`, `{"type":"object","$defs":{"x":{"$ref":"#/$defs/x"}}}`},
		{"branches that name themselves", `{"$defs":{"x":{"anyOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}]}},"$ref":"#/$defs/x"}`,
			`{"type":"object","$defs":{"x":{"anyOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}]}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := model.PlainSchema(json.RawMessage(tt.schema))
			if diff := cmp.Diff(meaning(t, tt.want), meaning(t, string(got))); diff != "" {
				t.Errorf("PlainSchema(%s) (-want +got):\n%s", tt.schema, diff)
			}
			if again := model.PlainSchema(got); string(again) != string(got) {
				t.Errorf("PlainSchema twice = %s, once = %s", again, got)
			}
		})
	}
}

// meaning reads JSON with every digit.
func meaning(t *testing.T, data string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, s := range []string{"", "a", "a.b", "a:b", "a b", "é", "😀", "\xff", long, long + "y", "a_b", "a/b"} {
		name, id := model.ToolName(s), model.CallID(s)
		if again := model.ToolName(name); again != name {
			t.Errorf("ToolName(%q) = %q, twice %q", s, name, again)
		}
		if again := model.CallID(id); again != id {
			t.Errorf("CallID(%q) = %q, twice %q", s, id, again)
		}
		if name == "" || len(name) > model.MaxToolName || id == "" || len(id) > model.MaxCallID {
			t.Errorf("%q: name %q, id %q, want 1 to 64 characters", s, name, id)
		}
	}
	if model.ToolName(long) == model.ToolName(long+"y") || model.ToolName("a.b") == model.ToolName("a b") {
		t.Error("two names became one")
	}
	if got := model.CallID("a.b:c"); got != "a.b:c" {
		t.Errorf("CallID(a.b:c) = %q, want it as it is", got)
	}
}
