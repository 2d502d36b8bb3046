package sam_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// small is a template with one function, whose variable VALUE is put in by the test.
func small(sections, value string) string {
	return sections + `
Resources:
  Bus:
    Type: AWS::Events::EventBus
    Properties: {Name: orders}
  Jobs:
    Type: AWS::SQS::Queue
  Role:
    Type: AWS::IAM::Role
  Later:
    Type: AWS::Scheduler::ScheduleGroup
  Skipped:
    Type: AWS::SQS::Queue
    Condition: Never
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/tiny/
      Environment:
        Variables:
          VALUE: ` + value + "\n"
}

const sections = `
Parameters:
  Name: {Type: String, Default: ada}
  Count: {Type: Number, Default: 3}
  Hosts: {Type: CommaDelimitedList, Default: "a.example, b.example"}
Mappings:
  Sizes:
    us-east-1: {small: "256"}
Conditions:
  Always: !Equals [!Ref Name, ada]
  Never: !Not [!Condition Always]
  Both: !And [!Condition Always, !Not [!Condition Never]]
  Either: !Or [!Condition Never, !Equals [1, 2]]
`

func TestIntrinsics(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"plain text", `plain`, "plain"},
		{"number", `42`, "42"},
		{"boolean", `true`, "true"},
		{"date stays text", `2026-01-02`, "2026-01-02"},
		{"ref to parameter", `!Ref Name`, "ada"},
		{"long ref", `{Ref: Count}`, "3"},
		{"pseudo parameter", `!Ref AWS::Region`, "us-east-1"},
		{"ref to bus", `!Ref Bus`, "orders"},
		{"ref to queue is its address", `!Ref Jobs`, "https://sqs.us-east-1.amazonaws.com/000000000000/steadfast-Jobs"},
		{"ref to function", `!Ref F`, "tiny"},
		{"attribute", `!GetAtt Jobs.Arn`, "arn:aws:sqs:us-east-1:000000000000:steadfast-Jobs"},
		{"attribute as list", `!GetAtt [Jobs, QueueName]`, "steadfast-Jobs"},
		{"long attribute", `{"Fn::GetAtt": [F, Arn]}`, "arn:aws:lambda:us-east-1:000000000000:function:tiny"},
		{"schedule group", `!Ref Later`, "steadfast-Later"},
		{"role", `!GetAtt Role.Arn`, "arn:aws:iam::000000000000:role/steadfast-Role"},
		{"sub", `!Sub "${Name}-${Count}-${AWS::AccountId}"`, "ada-3-000000000000"},
		{"sub with attribute", `!Sub "${Bus.Arn}/x"`, "arn:aws:events:us-east-1:000000000000:event-bus/orders/x"},
		{"sub keeps escaped", `!Sub "${!Name} ${Name}"`, "${Name} ada"},
		{"sub with own variables", `!Sub ["${Who} of ${Name}", {Who: !Ref Bus}]`, "orders of ada"},
		{"long sub", `{"Fn::Sub": "x${Name}"}`, "xada"},
		{"join", `!Join ["/", [a, !Ref Name, 7]]`, "a/ada/7"},
		{"join of a list parameter", `!Join ["+", !Ref Hosts]`, "a.example+b.example"},
		{"join without the missing", `!Join [",", [a, !Ref "AWS::NoValue", b]]`, "a,b"},
		{"split and select", `!Select [1, !Split ["-", "a-b-c"]]`, "b"},
		{"map", `!FindInMap [Sizes, !Ref "AWS::Region", small]`, "256"},
		{"if true", `!If [Always, yes, no]`, "yes"},
		{"if false", `!If [Either, yes, no]`, "no"},
		{"if and", `!If [Both, yes, no]`, "yes"},
		{"branch not taken is not resolved", `!If [Never, !Ref Nothing, ok]`, "ok"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			stack, err := sam.Parse([]byte(small(sections, tc.value)), sam.Inputs{})
			if err != nil {
				t.Fatal(err)
			}
			if got := stack.Functions[0].Env["VALUE"]; got != tc.want {
				t.Errorf("%s = %q, want %q", tc.value, got, tc.want)
			}
			if len(stack.Queues) != 1 {
				t.Errorf("%d queues, want 1: the condition of the other does not hold", len(stack.Queues))
			}
			if diff := cmp.Diff([]string{"steadfast-Later"}, stack.ScheduleGroups); diff != "" {
				t.Errorf("schedule groups (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoValueRemovesAVariable(t *testing.T) {
	stack, err := sam.Parse([]byte(small(sections, `!If [Never, x, !Ref "AWS::NoValue"]`)), sam.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	if value, there := stack.Functions[0].Env["VALUE"]; there {
		t.Errorf("VALUE = %q, want it removed", value)
	}
}

func TestIntrinsicErrors(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"unknown name", `!Ref Nobody`, `"Nobody" is no parameter and no resource`},
		{"absent resource", `!Ref Skipped`, `"Skipped" is no parameter and no resource`},
		{"unknown attribute", `!GetAtt Jobs.Colour`, `Jobs (AWS::SQS::Queue) has no attribute "Colour"`},
		{"unknown name in sub", `!Sub "${Nobody}"`, `"Nobody" is no parameter`},
		{"list in sub", `!Sub "${Hosts}"`, `"Hosts" is not a plain value`},
		{"unknown function", `!ImportValue x`, "!ImportValue: is not supported"},
		{"unknown long function", `{"Fn::ImportValue": x}`, "Fn::ImportValue: is not supported"},
		{"undeclared condition", `!If [Sometimes, a, b]`, `condition "Sometimes" is not declared`},
		{"condition function as value", `!Equals [a, b]`, "belongs under Conditions"},
		{"index", `!Select [9, [a]]`, `index "9" of 1 items`},
		{"map", `!FindInMap [Sizes, mars, small]`, "nothing at Sizes.mars.small"},
		{"merge key", `{"<<": {a: b}}`, "merge keys"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := sam.Parse([]byte(small(sections, tc.value)), sam.Inputs{})
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "resource F") {
				t.Errorf("error = %v, want one that names F and has %q", err, tc.want)
			}
		})
	}
}

func TestConditionThatNeedsItself(t *testing.T) {
	const circular = "Conditions:\n  A: !Not [!Condition B]\n  B: !Not [!Condition A]\n"
	_, err := sam.Parse([]byte(circular+"Resources:\n  Q: {Type: AWS::SQS::Queue, Condition: A}\n"), sam.Inputs{})
	if err == nil || !strings.Contains(err.Error(), "needs itself") {
		t.Errorf("error = %v, want one about the circle", err)
	}
}
