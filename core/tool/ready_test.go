package tool_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

type place struct {
	City   string   `json:"city" enum:"Delft,Bonn"`
	Nearby []string `json:"nearby,omitempty"`
	Rings  int8     `json:"rings,omitempty"`
}

// TestFirstCallsSideBySide: a schema without defaults is made ready by the first call, also when that is many at once.
func TestFirstCallsSideBySide(t *testing.T) {
	inputs := []struct {
		input string
		fits  bool
	}{
		{`{"city":"Delft","nearby":["Rijswijk"],"rings":3}`, true},
		{`{"city":"Bonn","nearby":null}`, true},
		{`{"city":"Ulm"}`, false},
		{`{"city":"Delft","nearby":[1]}`, false},
		{`{"city":"Delft","rings":300}`, false},
		{`{"city":"Delft","more":1}`, false},
	}
	visit := tool.New("visit", "Goes there.", func(_ tool.Context, p place) (string, error) { return p.City, nil })
	if err := visit.Spec().Err; err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for _, in := range append(inputs, inputs...) {
		wait.Go(func() {
			_, err := visit.Call(tool.Context{Context: t.Context()}, json.RawMessage(in.input))
			if (err == nil) != in.fits || err != nil && !fault.Is(err, fault.Invalid) {
				t.Errorf("visit(%s) = %v, fits: %t", in.input, err, in.fits)
			}
		})
	}
	wait.Wait()
}

// TestWrongDefaultsAreFoundAtOnce, also where they are deep inside: not by the first call, which may be months away.
func TestWrongDefaultsAreFoundAtOnce(t *testing.T) {
	type inner struct {
		N int8 `json:"n" default:"300"`
	}
	for _, wrong := range []tool.Tool{
		tool.New("a", "a", func(tool.Context, inner) (string, error) { return "", nil }),
		tool.New("b", "b", func(tool.Context, map[string]inner) (string, error) { return "", nil }),
		tool.New("c", "c", func(tool.Context, struct{ In []inner }) (string, error) { return "", nil }),
		tool.New("d", "d", func(tool.Context, struct{ In *inner }) (string, error) { return "", nil }),
		tool.New("e", "e", func(tool.Context, struct {
			City string `enum:"Delft,Bonn" default:"Ulm"`
		}) (string, error) {
			return "", nil
		}),
	} {
		if wrong.Spec().Err == nil {
			t.Errorf("%s: a default that does not fit is taken", wrong.Spec().Name)
		}
	}
}

// TestTextsOfASchema: words that JSON writes in its own way, and schemas of nothing and of all.
func TestTextsOfASchema(t *testing.T) {
	type odd struct {
		Words string         `json:"a<b & c" jsonschema:"<b>\u2028 \"quoted\" \\ é 漢\x01</b>" enum:"<,>,&" default:"<"`
		All   any            `json:"all"`
		None  struct{}       `json:"none"`
		Some  []any          `json:"some,omitempty"`
		Deep  [][2][]float32 `json:"deep" default:"[ [[1.50], [2e3]] ]"`
		Flag  bool           `json:"flag" default:"true"`
	}
	shape, err := tool.ShapeOf[odd]()
	if err != nil {
		t.Fatal(err)
	}
	rendered[odd](t, string(shape.Schema()))
	empty, err := tool.ShapeOf[struct{}]()
	if err != nil {
		t.Fatal(err)
	}
	rendered[struct{}](t, string(empty.Schema()))
}
