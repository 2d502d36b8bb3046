package value_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

func parse(t *testing.T, s string) value.Value {
	t.Helper()
	var v value.Value
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestSizes(t *testing.T) {
	tests := []struct {
		item string
		want int
	}{
		{`{"ab":{"S":"xyz"}}`, 5},
		{`{"ab":{"S":"ä€"}}`, 7},
		{`{"n":{"N":"0"}}`, 2},
		{`{"n":{"N":"12345"}}`, 1 + 4},
		{`{"n":{"N":"-12345"}}`, 1 + 5},
		{`{"n":{"N":"1200000"}}`, 1 + 2},
		{`{"b":{"B":"AAEC"}}`, 1 + 3},
		{`{"t":{"BOOL":false},"u":{"NULL":true}}`, 4},
		{`{"l":{"L":[]}}`, 1 + 3},
		{`{"l":{"L":[{"S":"ab"},{"BOOL":true}]}}`, 1 + 3 + 1 + 2 + 1 + 1},
		{`{"m":{"M":{"k":{"S":"ab"}}}}`, 1 + 3 + 1 + 1 + 2},
		{`{"s":{"SS":["a","bc"]}}`, 1 + 3},
		{`{"s":{"NS":["1","22"]}}`, 1 + 4},
	}
	for _, tt := range tests {
		var it value.Item
		if err := json.Unmarshal([]byte(tt.item), &it); err != nil {
			t.Fatal(err)
		}
		if got := it.Size(); got != tt.want {
			t.Errorf("Size(%s) = %d, want %d", tt.item, got, tt.want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, s := range []string{`{"S":""}`, `{"S":"<&>"}`, `{"N":"0.001"}`, `{"B":"AP8="}`, `{"BOOL":true}`, `{"NULL":true}`, `{"L":[]}`, `{"M":{}}`,
		`{"L":[{"M":{"a":{"L":[{"N":"1"}]}}}]}`, `{"SS":["a","b"]}`, `{"NS":["-1","2"]}`, `{"BS":["AA==","AQ=="]}`} {
		if got := parse(t, s).String(); got != s {
			t.Errorf("%s became %s", s, got)
		}
	}
}

func TestRefused(t *testing.T) {
	deep := strings.Repeat(`{"L":[`, 34) + `{"S":"x"}` + strings.Repeat(`]}`, 34)
	tests := []struct {
		in, want string
		fault    bool
	}{
		{`{}`, "exactly one of the supported datatypes", true},
		{`{"S":"a","N":"1"}`, "more than one datatypes", true},
		{`{"X":"a"}`, "supported datatypes", true},
		{`{"NULL":false}`, "must have the value of true", true},
		{deep, "Nesting Levels", true},
		{`{"N":"0x10"}`, "numeric value", true},
		{`{"N":"1e-131"}`, "underflow", true},
		{`{"BS":["AA==","AA=="]}`, "duplicates", true},
		{`{"S":null}`, "string is due", false},
		{`{"S":1}`, "cannot unmarshal", false},
		{`{"B":"*"}`, "illegal base64", false},
	}
	for _, tt := range tests {
		var v value.Value
		err := json.Unmarshal([]byte(tt.in), &v)
		var fault value.Fault
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &fault) != tt.fault {
			t.Errorf("%s: %v, want %q (a fault: %v)", tt.in, err, tt.want, tt.fault)
		}
	}
}

// TestArithmetic compares sums and order with math/big's rationals.
func TestArithmetic(t *testing.T) {
	number := rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9]{1,8})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, err := value.ParseDecimal(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := value.ParseDecimal(b)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := x.Add(y)
		if err != nil {
			t.Fatal(err)
		}
		ra, _ := new(big.Rat).SetString(a)
		rb, _ := new(big.Rat).SetString(b)
		if got, _ := new(big.Rat).SetString(sum.String()); got.Cmp(new(big.Rat).Add(ra, rb)) != 0 {
			t.Errorf("%s + %s = %s", a, b, sum)
		}
		if x.Cmp(y) != ra.Cmp(rb) {
			t.Errorf("Cmp(%s, %s) = %d", a, b, x.Cmp(y))
		}
		if back, err := x.Add(y.Neg()); err != nil || (back.String() == "0") != (ra.Cmp(rb) == 0) {
			t.Errorf("%s - %s = %s, %v", a, b, back, err)
		}
	})
}

func TestSumsThatDoNotFit(t *testing.T) {
	big, _ := value.ParseDecimal("9.9999999999999999999999999999999999999E+125")
	if _, err := big.Add(big); err == nil || !strings.Contains(err.Error(), "overflow") {
		t.Errorf("overflow: %v", err)
	}
	if _, err := big.Add(value.Int(1)); err == nil || !strings.Contains(err.Error(), "38 significant digits") {
		t.Errorf("digits: %v", err)
	}
}

func TestEqualAndCompare(t *testing.T) {
	tests := []struct {
		a, b    string
		equal   bool
		ordered bool
		c       int
	}{
		{`{"S":"a"}`, `{"S":"b"}`, false, true, -1},
		{`{"S":"a"}`, `{"B":"YQ=="}`, false, false, 0},
		{`{"N":"10"}`, `{"N":"9"}`, false, true, 1},
		{`{"N":"1.50"}`, `{"N":"15e-1"}`, true, true, 0},
		{`{"SS":["a","b"]}`, `{"SS":["b","a"]}`, true, false, 0},
		{`{"NS":["1","2"]}`, `{"NS":["2","1.0"]}`, true, false, 0},
		{`{"L":[{"S":"a"}]}`, `{"L":[{"S":"a"}]}`, true, false, 0},
		{`{"M":{"k":{"BOOL":true}}}`, `{"M":{"k":{"BOOL":false}}}`, false, false, 0},
		{`{"NULL":true}`, `{"NULL":true}`, true, false, 0},
	}
	for _, tt := range tests {
		a, b := parse(t, tt.a), parse(t, tt.b)
		c, ordered := value.Compare(a, b)
		if value.Equal(a, b) != tt.equal || ordered != tt.ordered || c != tt.c {
			t.Errorf("%s, %s: equal %v, order %d %v", tt.a, tt.b, value.Equal(a, b), c, ordered)
		}
	}
}
