package attr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

func TestParseNumber(t *testing.T) {
	tests := []struct {
		name, in, want string // want "": refused
	}{
		{"zero", "-0.00", "0"},
		{"leading and trailing zeros", "0010.500", "10.5"},
		{"exponent", "12e3", "12000"},
		{"negative exponent", "-12E-3", "-0.012"},
		{"beyond 53 bits", "9007199254740993", "9007199254740993"},
		{"38 digits", strings.Repeat("9", 38), strings.Repeat("9", 38)},
		{"39 digits of which one is a zero", strings.Repeat("9", 38) + "0", strings.Repeat("9", 38) + "0"},
		{"39 digits", strings.Repeat("9", 39), ""},
		{"largest", "9.99e125", "999" + strings.Repeat("0", 123)},
		{"too large", "1e126", ""},
		{"smallest", "1e-130", "0." + strings.Repeat("0", 129) + "1"},
		{"too small", "1e-131", ""},
		{"nothing", "", ""},
		{"no digits", ".", ""},
		{"word", "NaN", ""},
		{"two points", "1.2.3", ""},
		{"blank", " 1", ""},
		{"hex", "0x10", ""},
		{"half an exponent", "1e", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := attr.ParseNumber(tt.in)
			if tt.want == "" {
				if !errors.As(err, new(attr.Refused)) {
					t.Errorf("ParseNumber(%q) = %s, %v, want a refusal", tt.in, n.String(), err)
				}
				return
			}
			if err != nil || n.String() != tt.want {
				t.Errorf("ParseNumber(%q) = %s, %v, want %s", tt.in, n.String(), err, tt.want)
			}
		})
	}
}

func TestArithmetic(t *testing.T) {
	tests := []struct{ a, b, sum, difference string }{
		{"1", "2", "3", "-1"},
		{"0.1", "0.2", "0.3", "-0.1"},
		{"9007199254740993", "1", "9007199254740994", "9007199254740992"},
		{"1e30", "1", "1000000000000000000000000000001", "999999999999999999999999999999"},
		{"1e50", "1", "", ""},
	}
	for _, tt := range tests {
		a, _ := attr.ParseNumber(tt.a)
		b, _ := attr.ParseNumber(tt.b)
		sum, err := a.Plus(b)
		if (err != nil) != (tt.sum == "") || err == nil && sum.String() != tt.sum {
			t.Errorf("%s + %s = %s, %v, want %q", tt.a, tt.b, sum.String(), err, tt.sum)
		}
		difference, err := a.Minus(b)
		if (err != nil) != (tt.difference == "") || err == nil && difference.String() != tt.difference {
			t.Errorf("%s - %s = %s, %v, want %q", tt.a, tt.b, difference.String(), err, tt.difference)
		}
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		name string
		v    attr.Value
		want int
	}{
		{"text in UTF-8 bytes", &types.AttributeValueMemberS{Value: "é€"}, 5},
		{"number of three digits", &types.AttributeValueMemberN{Value: "-123"}, 4},
		{"trailing zeros do not count", &types.AttributeValueMemberN{Value: "1000000"}, 2},
		{"bytes", &types.AttributeValueMemberB{Value: []byte{1, 2}}, 2},
		{"bool", &types.AttributeValueMemberBOOL{}, 1},
		{"null", &types.AttributeValueMemberNULL{Value: true}, 1},
		{"empty list", &types.AttributeValueMemberL{}, 3},
		{"map", &types.AttributeValueMemberM{Value: attr.Item{"ab": &types.AttributeValueMemberS{Value: "c"}}}, 7},
		{"set", &types.AttributeValueMemberSS{Value: []string{"a", "bc"}}, 3},
	}
	for _, tt := range tests {
		if got := attr.Size(tt.v); got != tt.want {
			t.Errorf("%s: Size = %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestTextIsStable(t *testing.T) {
	v := &types.AttributeValueMemberM{Value: attr.Item{
		"b": &types.AttributeValueMemberL{Value: []attr.Value{attr.Int(1), &types.AttributeValueMemberNULL{Value: true}}},
		"a": &types.AttributeValueMemberSS{Value: []string{"y", "x"}},
		"c": &types.AttributeValueMemberB{Value: []byte("hi")},
		"d": &types.AttributeValueMemberBOOL{Value: true},
	}}
	kept, err := attr.Stored(v)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := attr.Text(kept), `{"a": ss{"x", "y"}, "b": [1, null], "c": b64"aGk=", "d": true}`; got != want {
		t.Errorf("Text = %s, want %s", got, want)
	}
}

func TestNestingIsLimited(t *testing.T) {
	nested := func(depth int) attr.Value {
		var v attr.Value = attr.Int(1)
		for range depth - 1 {
			v = &types.AttributeValueMemberL{Value: []attr.Value{v}}
		}
		return v
	}
	if _, err := attr.Stored(nested(attr.MaxDepth)); err != nil {
		t.Errorf("depth %d: %v", attr.MaxDepth, err)
	}
	if _, err := attr.Stored(nested(attr.MaxDepth + 1)); err == nil {
		t.Errorf("depth %d was accepted", attr.MaxDepth+1)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	original := func() attr.Item {
		return attr.Item{
			"s": &types.AttributeValueMemberS{Value: "x"}, "n": &types.AttributeValueMemberN{Value: "1.50"}, "b": &types.AttributeValueMemberB{Value: []byte("b")},
			"bool": &types.AttributeValueMemberBOOL{Value: true}, "null": &types.AttributeValueMemberNULL{Value: true},
			"list": &types.AttributeValueMemberL{Value: []attr.Value{attr.Int(1)}}, "map": &types.AttributeValueMemberM{Value: attr.Item{"x": attr.Int(2)}},
			"ss": &types.AttributeValueMemberSS{Value: []string{"a"}}, "ns": &types.AttributeValueMemberNS{Value: []string{"1"}}, "bs": &types.AttributeValueMemberBS{Value: [][]byte{[]byte("c")}},
		}
	}
	item := original()
	clone := attr.CloneItem(item)
	want := attr.Text(&types.AttributeValueMemberM{Value: original()})
	if got := attr.Text(&types.AttributeValueMemberM{Value: clone}); got != want {
		t.Fatalf("Clone = %s, want %s", got, want)
	}
	item["s"].(*types.AttributeValueMemberS).Value = "changed"
	item["b"].(*types.AttributeValueMemberB).Value[0] = '!'
	item["list"].(*types.AttributeValueMemberL).Value[0] = attr.Int(9)
	item["map"].(*types.AttributeValueMemberM).Value["x"] = attr.Int(9)
	item["ss"].(*types.AttributeValueMemberSS).Value[0] = "changed"
	item["ns"].(*types.AttributeValueMemberNS).Value[0] = "9"
	item["bs"].(*types.AttributeValueMemberBS).Value[0][0] = '!'
	if got := attr.Text(&types.AttributeValueMemberM{Value: clone}); got != want {
		t.Errorf("after changes of the original the clone is %s, want %s", got, want)
	}
}
