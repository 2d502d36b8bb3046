package sam_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// TestCustoms: a Custom:: resource names its function; what else it says may be beyond this machine.
func TestCustoms(t *testing.T) {
	const template = `
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: functions/f, AutoPublishAlias: live}
  Thing:
    Type: Custom::Thing
    Properties: {ServiceToken: TOKEN, Version: !Ref F.Version}
`
	stack, err := sam.Parse([]byte(strings.Replace(template, "TOKEN", "!GetAtt F.Arn", 1)), sam.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]sam.Custom{{LogicalID: "Thing", Kind: "Custom::Thing", Function: "f"}}, stack.Customs); diff != "" {
		t.Errorf("customs (-want +got):\n%s", diff)
	}
	for token, why := range map[string]string{"arn:aws:sns:us-east-1:0:topic": "is no function's ARN", "!GetAtt G.Arn": "ServiceToken"} {
		if _, err := sam.Parse([]byte(strings.Replace(template, "TOKEN", token, 1)), sam.Inputs{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", token, err, why)
		}
	}
}
