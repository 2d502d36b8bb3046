package bedrock_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The smallest input that fits a schema, as a forced call shows it.
func TestSampleInput(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"nothing required", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{}`},
		{"every type", `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"string"}},"o":{"type":"object"},"z":{"type":"null"}},"required":["s","n","i","b","l","o","z"]}`,
			`{"s":"hi","n":0,"i":0,"b":false,"l":[],"o":{},"z":null}`},
		{"given values", `{"type":"object","properties":{"c":{"const":"x"},"e":{"enum":["p","q"]},"d":{"type":"integer","default":7}},"required":["c","e","d"]}`, `{"c":"x","e":"p","d":7}`},
		{"bounds", `{"type":"object","properties":{"a":{"type":"integer","minimum":3},"b":{"type":"number","maximum":-2},"c":{"type":"integer","exclusiveMinimum":0},"s":{"type":"string","minLength":4},"t":{"type":"string","maxLength":1},"l":{"type":"array","items":{"type":"boolean"},"minItems":2}},"required":["a","b","c","s","t","l"]}`,
			`{"a":3,"b":-2,"c":1,"s":"hi..","t":"h","l":[false,false]}`},
		{"formats", `{"type":"object","properties":{"t":{"type":"string","format":"date-time"},"d":{"type":"string","format":"date"},"c":{"type":"string","format":"time"},"u":{"type":"string","format":"uri"},"m":{"type":"string","format":"email"},"i":{"type":"string","format":"uuid"},"x":{"type":"string","format":"other"}},"required":["t","d","c","u","m","i","x"]}`,
			`{"t":"2026-01-01T00:00:00Z","d":"2026-01-01","c":"00:00:00Z","u":"https://example.com/","m":"someone@example.com","i":"00000000-0000-4000-8000-000000000000","x":"hi"}`},
		{"nullable and choices", `{"type":"object","properties":{"n":{"type":["null","string"]},"a":{"anyOf":[{"type":"integer"},{"type":"string"}]},"o":{"oneOf":[{"const":1}]},"l":{"allOf":[{"type":"boolean"}]},"p":{"properties":{}}},"required":["n","a","o","l","p"]}`,
			`{"n":"hi","a":0,"o":1,"l":false,"p":{}}`},
		{"references", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"type":"object","properties":{"s":{"type":"string"}},"required":["s"]}}}`, `{"a":{"s":"hi"}}`},
		{"required and not described", `{"type":"object","required":["ghost"]}`, `{}`},
		{"unreadable", `{"type":"object","properties":[]}`, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &dialogue{t: t, tools: `{"toolSpec":{"name":"t","inputSchema":{"json":` + tt.schema + `}}}`, choice: `{"any":{}}`}
			got := d.says("hi").Calls[0]
			if diff := cmp.Diff(decoded(t, tt.want), decoded(t, got[len("t "):])); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

// Schemas that grow without end still give an answer, soon.
func TestSampleOfEndlessSchema(t *testing.T) {
	schema := `{"type":"object","$defs":{"A":{"type":"object","properties":{"l":{"$ref":"#/$defs/A"},"r":{"$ref":"#/$defs/A"},"m":{"type":"array","minItems":1000000,"items":{"$ref":"#/$defs/A"}}},"required":["l","r","m"]}},"properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"]}`
	d := &dialogue{t: t, tools: `{"toolSpec":{"name":"t","inputSchema":{"json":` + schema + `}}}`, choice: `{"any":{}}`}
	if input := d.says("hi").Calls[0][len("t "):]; len(input) > 100_000 || !json.Valid([]byte(input)) {
		t.Errorf("input has %d bytes", len(input))
	}
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}
