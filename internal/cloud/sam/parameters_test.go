package sam_test

import (
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

const declared = `
Parameters:
  Pool: {Type: String, AllowedPattern: "[a-z]+_[0-9]+"}
  Depth: {Type: Number, Default: 8, MinValue: 1, MaxValue: 64}
  Format: {Type: String, Default: segments, AllowedValues: [segments, strands], ConstraintDescription: see the guide}
  Short: {Type: String, Default: ab, MinLength: 2, MaxLength: 3}
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/f
      MemorySize: !Ref Depth
      Environment: {Variables: {ALL: !Sub "${Pool} ${Depth} ${Format} ${Short}"}}
`

func TestParameters(t *testing.T) {
	tests := []struct {
		name  string
		given map[string]string
		want  string // the variable, or the error's text after "parameter "
	}{
		{"defaults", map[string]string{"Pool": "a_1"}, "a_1 8 segments ab"},
		{"given", map[string]string{"Pool": "a_1", "Depth": "2", "Format": "strands", "Short": "abc"}, "a_1 2 strands abc"},
		{"missing", nil, "Pool: needs a value"},
		{"whole pattern", map[string]string{"Pool": "xx a_1"}, `Pool: "xx a_1" does not match`},
		{"too small", map[string]string{"Pool": "a_1", "Depth": "0"}, "Depth: 0 is less than 1"},
		{"too large", map[string]string{"Pool": "a_1", "Depth": "65"}, "Depth: 65 is more than 64"},
		{"no number", map[string]string{"Pool": "a_1", "Depth": "many"}, `Depth: "many" is not a number`},
		{"value", map[string]string{"Pool": "a_1", "Format": "x"}, `Format: "x" is not one of segments, strands (see the guide)`},
		{"short", map[string]string{"Pool": "a_1", "Short": "a"}, "Short: 1 characters are fewer than 2"},
		{"long", map[string]string{"Pool": "a_1", "Short": "abcd"}, "Short: 4 characters are more than 3"},
		{"unknown", map[string]string{"Pool": "a_1", "Pol": "x"}, "Pol: the template has none of this name"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			stack, err := sam.Parse([]byte(declared), sam.Inputs{Parameters: tc.given})
			if err != nil {
				if !strings.HasPrefix(err.Error(), "parameter "+tc.want) {
					t.Errorf("error = %v, want parameter %s", err, tc.want)
				}
				return
			}
			if got := stack.Functions[0].Env["ALL"]; got != tc.want {
				t.Errorf("ALL = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDefaultsOfTheCaller(t *testing.T) {
	stack, err := sam.Parse([]byte(declared), sam.Inputs{Defaults: map[string]string{"Pool": "a_1", "Depth": "3", "Other": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := stack.Functions[0].Env["ALL"]; got != "a_1 8 segments ab" {
		t.Errorf("ALL = %q: the caller's default is only for what has none", got)
	}
}

func TestPreferredValues(t *testing.T) {
	in := sam.Inputs{Parameters: map[string]string{"Pool": "a_1"}, Preferred: map[string]string{"Depth": "5", "Pool": "b_2", "Other": "x"}}
	stack, err := sam.Parse([]byte(declared), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := stack.Functions[0].Env["ALL"]; got != "a_1 5 segments ab" {
		t.Errorf("ALL = %q, want the preferred depth before the default", got)
	}
}
