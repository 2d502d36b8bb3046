package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// whole is a type with all that an answer may have.
type whole struct {
	Order order             `json:"order"`
	Deep  map[string][]line `json:"deep,omitempty"`
	Maybe *line             `json:"maybe"`
	Any   any               `json:"any,omitempty"`
	When  time.Time         `json:"when,omitzero"`
	Bytes []byte            `json:"bytes,omitempty"`
}

func paths(problems []tool.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.String())
	}
	return strings.Join(all, "\n")
}

func TestShapeOf(t *testing.T) {
	shape, err := tool.ShapeOf[whole]()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, raw, want, problems string }{
		{"defaults", `{"order":{"customer":"a","note":null},"maybe":null}`, `{"maybe":null,"order":{"customer":"a","priority":"low"}}`, ""},
		{"digits are kept", `{"order":{"customer":"a","priority":"high","count":9007199254740993},"maybe":null,"any":1e400}`,
			`{"any":1e400,"maybe":null,"order":{"count":9007199254740993,"customer":"a","priority":"high"}}`, ""},
		{"deep", `{"order":{"customer":"a"},"maybe":{"sku":"x"},"deep":{"k":[{"sku":"y","qty":2}]}}`,
			`{"deep":{"k":[{"qty":2,"sku":"y"}]},"maybe":{"qty":1,"sku":"x"},"order":{"customer":"a","priority":"low"}}`, ""},
		{"every place", `{"order":{"priority":"mid","lines":[{"sku":1},{"qty":"x"}]},"deep":{"k":[{"sku":"y"},{}]},"extra":1}`, "", strings.Join([]string{
			"maybe: missing", "deep.k[1].sku: missing", "extra: not expected", "order.customer: missing",
			`order.lines[0].sku: type: 1 has type "integer", want "string"`, "order.lines[1].sku: missing",
			`order.lines[1].qty: type: x has type "string", want "integer"`, "order.priority: enum: mid does not equal any of: [low high]"}, "\n")},
		{"no object", `[1]`, "", "no JSON object"},
		{"no JSON", `{"order":`, "", "no JSON object"},
		{"two values", `{} {}`, "", "no JSON object"},
		{"null", `null`, "", "no JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clean, problems := shape.Check(json.RawMessage(tt.raw))
			if diff := cmp.Diff(tt.problems, paths(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if string(clean) != tt.want {
				t.Errorf("value = %s, want %s", clean, tt.want)
			}
		})
	}
}

// TestShapeOfOtherValues: a value that is no object stands in one for the model, and is taken bare too.
func TestShapeOfOtherValues(t *testing.T) {
	shape, err := tool.ShapeOf[[]line]()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(shape.Schema()), `"properties":{"value":{"type":"array"`) {
		t.Errorf("schema = %s", shape.Schema())
	}
	for raw, want := range map[string]string{
		`{"value":[{"sku":"a"}]}`: `[{"qty":1,"sku":"a"}]`, `[{"sku":"a","qty":2}]`: `[{"qty":2,"sku":"a"}]`, `[]`: `[]`,
	} {
		if got, problems := shape.Check(json.RawMessage(raw)); string(got) != want {
			t.Errorf("Check(%s) = %s, %v", raw, got, problems)
		}
	}
	for raw, want := range map[string]string{
		`{"value":[{}]}`: "[0].sku: missing", `[{"sku":"a"},{}]`: "[1].sku: missing", `{}`: "missing", `"x"`: `type: x has type "string", want "array"`, `{"value":[],"more":1}`: "more: not expected",
	} {
		if _, problems := shape.Check(json.RawMessage(raw)); paths(problems) != want {
			t.Errorf("Check(%s): %s, want %s", raw, paths(problems), want)
		}
	}
}

// TestShapeFrom: what the walk does not know the validator judges, references included.
func TestShapeFrom(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"type":"object","$defs":{"node":{"type":"object","properties":{"n":{"type":"integer","minimum":3},"next":{"$ref":"#/$defs/node"}},"required":["n"]}},
		"properties":{"tree":{"$ref":"#/$defs/node"},"few":{"type":"array","items":{"type":"string"},"maxItems":1},"either":{"anyOf":[{"type":"string"},{"type":"null"}]},"word":{"type":"string","pattern":"^a"}},
		"minProperties":1}`), &schema); err != nil {
		t.Fatal(err)
	}
	shape, err := tool.ShapeFrom(&schema)
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{
		`{"tree":{"n":3,"next":{"n":4}},"either":null,"few":["a"],"word":"ab","other":1}`: "",
		`{"tree":{"n":3,"next":{"n":2}}}`:                                                 "tree.next.n",
		`{"few":["a","b"]}`:                                                               "few",
		`{"either":1,"word":"b"}`:                                                         "either\nword",
		`{}`:                                                                              "",
	} {
		_, problems := shape.Check(json.RawMessage(raw))
		var at []string
		for _, p := range problems {
			at = append(at, p.Path)
		}
		if got := strings.Join(at, "\n"); got != want || raw == `{}` && len(problems) != 1 {
			t.Errorf("Check(%s) = %v, want %q", raw, problems, want)
		}
	}
	var older jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/R","definitions":{"R":{"type":"object","properties":{"of":{"$ref":"#/definitions/S"}},"required":["of"]},"S":{"type":"string"}}}`), &older); err != nil {
		t.Fatal(err)
	}
	if shape, err = tool.ShapeFrom(&older); err != nil {
		t.Fatal(err)
	}
	if _, problems := shape.Check(json.RawMessage(`{"of":1}`)); len(problems) != 1 || problems[0].Path != "of" {
		t.Errorf("a schema of draft 7: %v", problems)
	}
	if _, err := tool.ShapeFrom(nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("no schema: %v", err)
	}
	many, _ := tool.ShapeOf[[]int]()
	if _, problems := many.Check(json.RawMessage(`[` + strings.Repeat(`"x",`, 99) + `1]`)); len(problems) != 20 {
		t.Errorf("%d problems are told", len(problems))
	}
}

// FuzzShape: what fits once fits again, unchanged; what does not names something.
func FuzzShape(f *testing.F) {
	for _, raw := range []string{`{"order":{"customer":"a"},"maybe":null}`, `{"order":{"customer":"a","lines":[{"sku":"x"}]},"maybe":{"sku":"y"},"any":{"a":[1]},"bytes":"eA=="}`, `{}`, `[1]`, `{"value":1}`} {
		f.Add(raw)
	}
	object, err := tool.ShapeOf[whole]()
	if err != nil {
		f.Fatal(err)
	}
	list, err := tool.ShapeOf[[]line]()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, shape := range []tool.Shape{object, list} {
			clean, problems := shape.Check(json.RawMessage(raw))
			if (clean == nil) != (len(problems) > 0) {
				t.Fatalf("Check(%q) = %s, %v", raw, clean, problems)
			}
			if clean == nil {
				continue
			}
			again, problems := shape.Check(clean)
			if diff := cmp.Diff(string(clean), string(again)); diff != "" {
				t.Errorf("Check of %s: %v (-want +got):\n%s", clean, problems, diff)
			}
		}
	})
}
