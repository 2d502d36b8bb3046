package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

type line struct {
	SKU string `json:"sku"`
	Qty int    `json:"qty" default:"1"`
}

type order struct {
	Customer string          `json:"customer" jsonschema:"who orders"`
	Priority string          `json:"priority" enum:"low,high" default:"low"`
	Lines    []line          `json:"lines,omitempty"`
	Note     string          `json:"note,omitempty"`
	Ref      json.Number     `json:"ref,omitempty"`
	Extra    json.RawMessage `json:"extra,omitempty"`
	Due      *time.Time      `json:"due,omitempty"`
	Count    int64           `json:"count,omitempty"`
}

// echo returns its input as it arrived.
func echo[In any]() tool.Tool {
	return tool.New("echo", "returns its input", func(_ tool.Context, in In) (In, error) { return in, nil })
}

func TestNewSchema(t *testing.T) {
	want := `{"type":"object","properties":{` +
		`"customer":{"type":"string","description":"who orders"},` +
		`"priority":{"type":"string","default":"low","enum":["low","high"]},` +
		`"lines":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"qty":{"type":"integer","default":1}},"required":["sku"],"additionalProperties":false}},` +
		`"note":{"type":"string"},"ref":{"type":"number"},"extra":true,"due":{"type":"string","format":"date-time"},"count":{"type":"integer"}},` +
		`"required":["customer"],"additionalProperties":false}`
	spec := echo[order]().Spec()
	if spec.Err != nil {
		t.Fatal(spec.Err)
	}
	if diff := cmp.Diff(decode(t, want), decode(t, string(spec.Schema))); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if got := spec.Model(); got.Name != "echo" || got.Description != "returns its input" || string(got.Schema) != string(spec.Schema) {
		t.Errorf("Model() = %+v", got)
	}
}

func TestNewInput(t *testing.T) {
	due := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name, input string
		want        order
	}{
		{"defaults", `{"customer":"a"}`, order{Customer: "a", Priority: "low"}},
		{"defaults in a list", `{"customer":"a","lines":[{"sku":"x"},{"sku":"y","qty":3}]}`, order{Customer: "a", Priority: "low", Lines: []line{{"x", 1}, {"y", 3}}}},
		{"null means none", `{"customer":"a","note":null,"lines":null,"priority":null,"due":null}`, order{Customer: "a", Priority: "low"}},
		{"all given", `{"customer":"a","priority":"high","note":"n","due":"2026-03-01T00:00:00Z"}`, order{Customer: "a", Priority: "high", Note: "n", Due: &due}},
		{"digits are kept", `{"customer":"a","count":9007199254740993,"ref":1e400,"extra":{"n":12345678901234567890.5}}`,
			order{Customer: "a", Priority: "low", Count: 9007199254740993, Ref: "1e400", Extra: json.RawMessage(`{"n":12345678901234567890.5}`)}},
		{"white space around", " \n{\"customer\":\"a\"}\n", order{Customer: "a", Priority: "low"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := echo[order]().Call(tool.Context{}, json.RawMessage(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewTagsEverywhere(t *testing.T) {
	type leaf struct {
		N    json.Number `json:"n" default:"5"`
		Unit *string     `json:"unit,omitempty" enum:"m,km"`
		Left string      `json:"-"`
		Same bool        `default:"true"`
	}
	type Common struct {
		Kind string `json:"kind" default:"a"`
	}
	type in struct {
		Common
		Ptr   *leaf           `json:"ptr,omitempty"`
		Pair  [1]leaf         `json:"pair"`
		ByKey map[string]leaf `json:"byKey"`
		Must  *int            `json:"must"`
	}
	echoed, err := echo[*in]().Call(tool.Context{}, json.RawMessage(`{"ptr":{"unit":null},"pair":[{"unit":"km"}],"byKey":{"x":{"n":7,"Same":false}},"must":null}`))
	if err != nil {
		t.Fatal(err)
	}
	km := "km"
	want := &in{Common: Common{"a"}, Ptr: &leaf{N: "5", Same: true}, Pair: [1]leaf{{N: "5", Unit: &km, Same: true}}, ByKey: map[string]leaf{"x": {N: "7"}}}
	if diff := cmp.Diff(want, echoed); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
	_, err = echo[in]().Call(tool.Context{}, json.RawMessage(`{"pair":[{"unit":"mile"}],"byKey":{},"must":1}`))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "enum: mile does not equal any of: [m km]") {
		t.Errorf("Call = %v, want Invalid for the enum", err)
	}
}

func TestNewKeepsInputAsItIs(t *testing.T) {
	type in struct {
		Raw json.RawMessage `json:"raw"`
	}
	got, err := echo[in]().Call(tool.Context{}, json.RawMessage(`{"raw": {"b":1,  "a":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"b":1,  "a":null}`; string(got.(in).Raw) != want {
		t.Errorf("raw = %s, want %s byte for byte", got.(in).Raw, want)
	}
}

func TestNewEmptyInput(t *testing.T) {
	for _, input := range []string{"", "null", "{}", " "} {
		if _, err := echo[struct{}]().Call(tool.Context{}, json.RawMessage(input)); err != nil {
			t.Errorf("Call(%q) = %v, want no error", input, err)
		}
	}
}

func TestNewBadInput(t *testing.T) {
	tests := []struct{ name, input, want string }{
		{"missing", `{}`, `required: missing properties: ["customer"]`},
		{"wrong type", `{"customer":5}`, `/properties/customer: type: 5 has type "integer", want "string"`},
		{"not allowed", `{"customer":"a","priority":"urgent"}`, `enum: urgent does not equal any of: [low high]`},
		{"unknown field", `{"customer":"a","costumer":"b"}`, `unexpected additional properties ["costumer"]`},
		{"required null", `{"customer":null}`, `want "string"`},
		{"too large for the field", `{"customer":"a","count":9223372036854775808}`, `count: a number 9223372036854775808 does not fit a int64`},
		{"no object", `["customer"]`, "it must be a JSON object"},
		{"cut", `{"customer":"a`, "not valid JSON"},
		{"two values", `{"customer":"a"} {}`, "more than one value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := echo[order]().Call(tool.Context{}, json.RawMessage(tt.input))
			if !fault.Is(err, fault.Invalid) || fault.ReasonOf(err) != "tool_input" {
				t.Fatalf("Call = %v, want Invalid for tool_input", err)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "validating") {
				t.Errorf("error = %q, want it to say %q and nothing of the validator", err, tt.want)
			}
		})
	}
}

func TestNewWithoutSchema(t *testing.T) {
	type badDefault struct {
		N int `json:"n" default:"many"`
	}
	type wrongDefault struct {
		N int `json:"n" default:"true"`
	}
	tests := []struct {
		name string
		tool tool.Tool
	}{
		{"an interface", echo[struct{ E error }]()},
		{"no object", echo[string]()},
		{"a channel", echo[struct{ C chan int }]()},
		{"default is no JSON", echo[badDefault]()},
		{"enum is no JSON", echo[struct {
			N []struct {
				M int `json:"m" enum:"1,two"`
			} `json:"n"`
		}]()},
		{"default of another type", echo[wrongDefault]()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := tt.tool.Spec()
			if !fault.Is(spec.Err, fault.Internal) || string(spec.Schema) != `{"type":"object"}` {
				t.Errorf("Spec() = %v %s, want an Internal Err and a schema that is valid all the same", spec.Err, spec.Schema)
			}
			if _, err := tt.tool.Call(tool.Context{}, json.RawMessage(`{}`)); !errors.Is(err, spec.Err) {
				t.Errorf("Call = %v, want %v", err, spec.Err)
			}
		})
	}
}

func TestState(t *testing.T) {
	type tenant struct{ ID string }
	ctx := tool.Context{Context: context.Background()}
	if got, err := tool.State[tenant](ctx.WithState(tenant{"t1"})); err != nil || got.ID != "t1" {
		t.Errorf("State = %v, %v, want t1", got, err)
	}
	for name, state := range map[string]any{"none": nil, "another type": "t1", "a pointer": &tenant{"t1"}} {
		if got, err := tool.State[tenant](ctx.WithState(state)); !fault.Is(err, fault.Internal) {
			t.Errorf("%s: State = %v, %v, want Internal", name, got, err)
		}
	}
}

func TestContextIsReady(t *testing.T) {
	probe := tool.New("probe", "looks around", func(ctx tool.Context, _ struct{}) (string, error) {
		ctx.Log.Info("here")
		return fmt.Sprint(ctx.Err()), nil
	})
	if got, err := probe.Call(tool.Context{}, nil); err != nil || got != "<nil>" {
		t.Errorf("Call with the zero context = %v, %v", got, err)
	}
}

func decode(t *testing.T, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}
