package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// level has a text form.
type level int

func (l level) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "L%d", int(l)), nil }

func (l *level) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "L%d", (*int)(l))
	return err
}

// either reads JSON itself: a number or a text.
type either string

func (e either) MarshalJSON() ([]byte, error) { return []byte(e), nil }

func (e *either) UnmarshalJSON(raw []byte) error {
	*e = either(raw)
	return nil
}

// strict reads JSON itself, into its fields.
type strict struct {
	Name string `json:"name"`
}

func (s *strict) UnmarshalJSON(raw []byte) error {
	type plain strict
	return json.Unmarshal(raw, (*plain)(s))
}

type base struct {
	ID   string `json:"id" enum:"a,b"`
	Name string `json:"name"`
}

type shadowed struct {
	base
	Name string `json:"name" default:"x"`
}

type baseNamed struct {
	base `json:"base"`
	ID   string `json:"id" enum:"p,q"`
}

// twins has two of one name at one depth, of which none counts.
type (
	twins struct {
		left
		right
	}
	left  struct{ Same, A int }
	right struct{ Same, B int }
)

type node struct {
	Value int              `json:"value" default:"1"`
	Left  *node            `json:"left"`
	Kids  []node           `json:"kids,omitempty"`
	By    map[string]*node `json:"by,omitempty"`
}

type forest []forest

type größe []größe

type chain[T any] struct {
	Value T         `json:"value"`
	Next  *chain[T] `json:"next,omitempty"`
}

type pair[A, B any] struct {
	A A `json:"a"`
	B B `json:"b,omitzero"`
}

func TestSchemaIsWhatJSONReads(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		run  func(t *testing.T)
	}{
		{"text form", round(pair[level, []level]{3, []level{4}}, `"a":{"type":"string"}`)},
		{"own JSON", round(pair[either, *either]{A: `{"x":[1]}`}, `"a":true`)},
		{"own JSON of the whole", round(strict{"ada"}, `"properties":{"name":{"type":"string"}}`, `"required":["name"]`)},
		{"address", round(pair[netip.Addr, map[netip.Addr]int]{netip.MustParseAddr("::1"), map[netip.Addr]int{netip.MustParseAddr("1.2.3.4"): 1}}, `"a":{"type":"string"}`)},
		{"time", round(pair[time.Time, *time.Time]{at, &at}, `"a":{"type":"string","format":"date-time"}`)},
		{"duration", round(pair[time.Duration, time.Duration]{time.Hour, 1}, `"a":{"type":"integer"}`)},
		{"big", round(pair[*big.Int, big.Int]{A: new(big.Int).Lsh(big.NewInt(1), 90)}, `"a":{"type":["null","integer"]}`)},
		{"embedded", round(shadowed{base{ID: "a"}, "n"}, `"required":["id"]`)},
		{"embedded by name", round(baseNamed{base{"b", "n"}, "q"}, `"base":{"type":"object"`, `"enum":["a","b"]`, `"enum":["p","q"]`)},
		{"embedded twice", round(twins{left{1, 2}, right{3, 4}}, `"required":["A","B"]`)},
		{"in text", round(struct {
			N int64    `json:"n,string"`
			P *bool    `json:"p,string"`
			F *float64 `json:"f,omitempty,string"`
			D int      `json:"d,string" default:"5"`
		}{N: math.MaxInt64, P: new(true), F: new(0.5), D: 7}, `"n":{"type":"string","pattern":"^-?[0-9]+$"}`, `"d":{"type":"string","default":"5"`)},
		{"text in text", round(struct {
			S string  `json:"s,string"`
			P *string `json:"p,string"`
			//lint:ignore SA5008 the option means nothing here
			B *big.Int `json:"b,string"`
		}{S: "a \"b\"", P: new(""), B: big.NewInt(5)}, `"s":{"type":"string","pattern":"^\".*\"$"}`)},
		{"keys", round(pair[map[int]string, map[uint8]bool]{map[int]string{-1: "x"}, map[uint8]bool{7: true}}, `"additionalProperties":{"type":"string"}`)},
		{"anything", round(pair[any, json.RawMessage]{map[string]any{"x": 1.5}, json.RawMessage(`[null]`)}, `"a":true`)},
		{"bytes", round(pair[[]byte, [2]byte]{[]byte("hi"), [2]byte{1, 255}}, `"contentEncoding":"base64"`, `"minItems":2`)},
		{"holds itself", round(node{1, &node{2, nil, []node{{Value: 3}}, nil}, nil, map[string]*node{"k": {Value: 4}}}, `"anyOf":[{"type":"null"},{"$ref":"#/$defs/node1"}]`)},
		{"generic, holds itself", round(chain[pair[int, string]]{Next: &chain[pair[int, string]]{}}, `"next":{"$ref":"#/$defs/chain1"}`)},
		{"holds itself, by another alphabet", round(pair[größe, int]{A: größe{{}}}, `"$ref":"#/$defs/gre1"`)},
		{"a list of itself", round(forest{{}, {{}}}, `"$ref":"#/$defs/forest1"`)},
		{"generic", round(pair[pair[int8, string], *pair[bool, int]]{A: pair[int8, string]{-128, "x"}}, `"minimum":-128,"maximum":127`)},
		{"no number", round(pair[*string, string]{new("x"), "y"}, `"type":["null","string"]`)},
		{"enum of items, of null", round(struct {
			Tags []string `json:"tags" enum:"x,y"`
			Unit *string  `json:"unit" enum:"m"`
			L    level    `json:"l" enum:"L1,L2"`
		}{Tags: []string{"y", "x"}, L: 2}, `"items":{"type":"string","enum":["x","y"]}`, `"enum":["m",null]`)},
		{"names", round(struct {
			Named int `json:"as it is"`
			Left  int `json:"-"`
			Plain int
			none  int
			//lint:ignore SA5008 encoding/json does not take the name either
			Other int `json:"\"other\""`
		}{Named: 1, Plain: 3, Other: 4}, `"required":["as it is","Plain","Other"]`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

// round: the schema says what it should, takes what encoding/json writes of the value, and gives it back.
func round[T any](v T, says ...string) func(t *testing.T) {
	return func(t *testing.T) {
		shape, err := tool.ShapeOf[T]()
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range says {
			if !strings.Contains(string(shape.Schema()), words) {
				t.Errorf("schema %s\ndoes not say %s", shape.Schema(), words)
			}
		}
		rendered[T](t, string(shape.Schema()))
		written, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		clean, problems := shape.Check(written)
		if len(problems) > 0 {
			t.Fatalf("%s does not fit its schema %s: %v", written, shape.Schema(), problems)
		}
		var back T
		if err := json.Unmarshal(clean, &back); err != nil {
			t.Fatalf("%s fits and cannot be read: %v", clean, err)
		}
		again, err := json.Marshal(back)
		if diff := cmp.Diff(string(written), string(again)); diff != "" {
			t.Errorf("%v (-written +read and written):\n%s", err, diff)
		}
	}
}

// rendered: a tool's schema, which is written by hand, is to the byte what the library writes of it.
func rendered[T any](t *testing.T, library string) {
	t.Helper()
	made := tool.New("t", "t", func(tool.Context, T) (string, error) { return "", nil }).Spec()
	_, wrapped := any(*new(T)).(forest) // a tool's input is an object
	if got := string(made.Schema); !wrapped && (got != library || made.Err != nil) {
		t.Errorf("a tool's schema is %s, %v\nwant %s", got, made.Err, library)
	}
}

func TestWholeNumbersAreIntegers(t *testing.T) {
	type in struct {
		N    int64           `json:"n"`
		List []uint16        `json:"list,omitempty"`
		Many map[string]*int `json:"many,omitempty"`
		F    float64         `json:"f,omitempty"`
	}
	for _, tt := range []struct {
		input string
		want  in
	}{
		{`{"n":2.0}`, in{N: 2}},
		{`{"n":-1.5e3,"list":[1.0,1e2],"many":{"k":3.0},"f":1e3}`, in{N: -1500, List: []uint16{1, 100}, Many: map[string]*int{"k": new(3)}, F: 1000}},
		{`{"n":9007199254740993.0}`, in{N: 9007199254740993}},
		{`{"n":0e999999999}`, in{}},
	} {
		got, err := echo[in]().Call(tool.Context{}, json.RawMessage(tt.input))
		if diff := cmp.Diff(any(tt.want), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.input, err, diff)
		}
	}
	for _, input := range []string{`{"n":2.5}`, `{"n":1e30}`, `{"n":1e-999999999}`, `{"n":1e999999999}`, `{"n":1,"list":[65536.0]}`} {
		if got, err := echo[in]().Call(tool.Context{}, json.RawMessage(input)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s = %v, %v, want Invalid", input, got, err)
		}
	}
}

func TestNullIsNone(t *testing.T) {
	type in struct {
		List []int           `json:"list"`
		Text string          `json:"text,omitempty"`
		Ptr  *int            `json:"ptr"`
		Any  any             `json:"any"`
		Deep map[string][]in `json:"deep,omitempty"`
	}
	got, err := echo[in]().Call(tool.Context{}, json.RawMessage(`{"list":null,"text":null,"ptr":null,"any":null,"deep":{"k":[{"list":null,"ptr":1,"any":null}]}}`))
	want := in{List: []int{}, Deep: map[string][]in{"k": {{List: []int{}, Ptr: new(1)}}}}
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, input := range []string{`{"list":[null],"ptr":1,"any":1}`, `{"list":[],"ptr":1}`, `{"list":[],"ptr":1,"any":1,"deep":{"k":null}}`} {
		if got, err := echo[in]().Call(tool.Context{}, json.RawMessage(input)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s = %v, %v, want Invalid", input, got, err)
		}
	}
}

func TestAnEmptyTextIsNoChoice(t *testing.T) {
	type in struct {
		Optional string `json:"optional,omitempty" enum:"a,b"`
		Default  string `json:"default" enum:"a,b" default:"b"`
		Free     string `json:"free,omitempty"`
		Empty    string `json:"empty" enum:",a"`
	}
	got, err := echo[in]().Call(tool.Context{}, json.RawMessage(`{"optional":"","default":"","free":"","empty":""}`))
	if diff := cmp.Diff(any(in{Default: "b"}), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	type must struct {
		Choice string `json:"choice" enum:"a,b"`
	}
	if got, err := echo[must]().Call(tool.Context{}, json.RawMessage(`{"choice":""}`)); !fault.Is(err, fault.Invalid) {
		t.Errorf("a choice that must be made = %v, %v, want Invalid", got, err)
	}
}

func TestWhatHoldsItselfIsCompletedDeep(t *testing.T) {
	got, err := echo[node]().Call(tool.Context{}, json.RawMessage(`{"left":{"left":null,"kids":[{"left":null,"by":null}]}}`))
	want := node{Value: 1, Left: &node{Value: 1, Kids: []node{{Value: 1}}}}
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	shape, err := tool.ShapeOf[node]()
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := shape.Check(json.RawMessage(`{"left":null,"kids":[{"left":null},{"left":null,"value":"x"}]}`)); len(problems) != 1 || problems[0].Path != "kids[1].value" {
		t.Errorf("problems = %v, want one at kids[1].value", problems)
	}
}

// TestTextsAreReadWhereTheyStand: a string that its type does not take is told with its place.
func TestTextsAreReadWhereTheyStand(t *testing.T) {
	type visit struct {
		At    time.Time    `json:"at"`
		Hosts []netip.Addr `json:"hosts"`
		Until *time.Time   `json:"until"`
		Photo []byte       `json:"photo,omitempty"`
		Level level        `json:"level,omitzero"`
	}
	shape, err := tool.ShapeOf[map[string]visit]()
	if err != nil {
		t.Fatal(err)
	}
	_, problems := shape.Check(json.RawMessage(`{"a":{"at":"tomorrow","hosts":["::1","here"],"until":null,"photo":"no!","level":"high"},"b":{"at":"2026-03-01T00:00:00Z","hosts":[],"until":"soon"}}`))
	var at []string
	for _, p := range problems {
		at = append(at, p.Path)
		if !strings.HasPrefix(p.Text, "not readable: ") {
			t.Errorf("problem %s", p)
		}
	}
	if diff := cmp.Diff([]string{"a.at", "a.hosts[1]", "a.level", "a.photo", "b.until"}, at); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestWhatJSONCannotRead(t *testing.T) {
	type bad struct {
		Words string `json:"words" jsonschema:"required=true"`
	}
	for name, infer := range map[string]func() (tool.Shape, error){
		"interface":   tool.ShapeOf[struct{ E error }],
		"function":    tool.ShapeOf[struct{ F func() }],
		"channel":     tool.ShapeOf[[]chan int],
		"complex":     tool.ShapeOf[complex128],
		"key":         tool.ShapeOf[map[float64]int],
		"another tag": tool.ShapeOf[bad],
	} {
		if _, err := infer(); !fault.Is(err, fault.Invalid) || errors.Unwrap(err) == nil {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
}
