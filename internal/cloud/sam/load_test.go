package sam_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

func TestGlobalsMergePerVariable(t *testing.T) {
	const template = `
Globals:
  Function:
    Timeout: 10
    Environment: {Variables: {SHARED: global, OWN: global}}
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: functions/f, MemorySize: "256", Environment: {Variables: {OWN: mine, MORE: more}}}
  G:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: functions/g, Timeout: 20}
`
	stack, err := sam.Parse([]byte(template), sam.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	f, g := stack.Functions[0], stack.Functions[1]
	if diff := cmp.Diff(map[string]string{"SHARED": "global", "OWN": "mine", "MORE": "more"}, f.Env); diff != "" {
		t.Errorf("environment of f (-want +got):\n%s", diff)
	}
	if f.Timeout != 10*time.Second || g.Timeout != 20*time.Second || f.Memory != 256 || g.Memory != 128 {
		t.Errorf("f %v %d MB, g %v %d MB", f.Timeout, f.Memory, g.Timeout, g.Memory)
	}
	if want := (sam.AsyncConfig{MaxRetries: 2, MaxAge: 6 * time.Hour}); g.Async != want {
		t.Errorf("g's retries = %+v, want Lambda's defaults", g.Async)
	}
}

// withEvent is a template whose function has one event.
func withEvent(event string) string {
	return `
Resources:
  Api:
    Type: AWS::Serverless::HttpApi
    Properties:
      Auth:
        DefaultAuthorizer: Jwt
        Authorizers:
          Jwt: {IdentitySource: $request.header.Authorization, JwtConfiguration: {issuer: "https://x", audience: c}}
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/f
      Events:
        E: ` + event + "\n"
}

func TestEvents(t *testing.T) {
	stack := &sam.Stack{}
	parse := func(event string) *sam.Stack {
		t.Helper()
		var err error
		if stack, err = sam.Parse([]byte(withEvent(event)), sam.Inputs{}); err != nil {
			t.Fatal(err)
		}
		return stack
	}
	open := parse(`{Type: HttpApi, Properties: {ApiId: !Ref Api, Method: get, Path: /x, Auth: {Authorizer: NONE}}}`)
	if diff := cmp.Diff([]sam.HTTPRoute{{Method: "GET", Path: "/x", Function: "f"}}, open.HTTP.Routes); diff != "" {
		t.Errorf("route (-want +got):\n%s", diff)
	}
	rule := parse(`{Type: EventBridgeRule, Properties: {EventBusName: "arn:aws:events:us-east-1:1:event-bus/mine", ` +
		`Pattern: {detail: {n: [{numeric: [">", 0]}], there: [{exists: true}]}}}}`)
	if got := string(rule.Rules[0].Pattern); got != `{"detail":{"n":[{"numeric":["\u003e",0]}],"there":[{"exists":true}]}}` {
		t.Errorf("pattern = %s", got)
	}
	if diff := cmp.Diff([]string{"default", "mine"}, rule.Buses); diff != "" {
		t.Errorf("buses (-want +got):\n%s", diff)
	}
	if r := rule.Rules[0]; r.MaxRetries != 185 || r.MaxAge != 24*time.Hour {
		t.Errorf("rule's retries = %d in %v, want EventBridge's defaults", r.MaxRetries, r.MaxAge)
	}
	off := parse(`{Type: EventBridgeRule, Properties: {State: DISABLED, Pattern: {source: [a]}}}`)
	if len(off.Rules) != 0 {
		t.Errorf("a disabled rule is listed: %+v", off.Rules)
	}
	cron := parse(`{Type: ScheduleV2, Properties: {Name: nightly, ScheduleExpression: "cron(0 2 * * ? *)", ` +
		`ScheduleExpressionTimezone: Europe/Berlin, Input: '{"a":1}'}}`)
	want := sam.Schedule{
		Name: "nightly", Expression: "cron(0 2 * * ? *)", TimeZone: "Europe/Berlin", Function: "f",
		Input: []byte(`{"a":1}`), Recurring: true,
	}
	if diff := cmp.Diff(want, cron.Schedules[0]); diff != "" {
		t.Errorf("schedule (-want +got):\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	function := func(properties string) string {
		return "Resources:\n  F: {Type: AWS::Serverless::Function, Properties: {" + properties + "}}\n"
	}
	tests := []struct{ name, template, want string }{
		{"empty", "", "the template is empty"},
		{"no resources", "Description: x", "no Resources"},
		{"no folder", function(`Timeout: 3`), "CodeUri"},
		{"unknown event type", withEvent(`{Type: Kinesis, Properties: {}}`), `event E: the type "Kinesis" is not supported`},
		{"event without API", withEvent(`{Type: HttpApi, Properties: {Method: GET, Path: /x}}`), "ApiId"},
		{"rule without pattern", withEvent(`{Type: EventBridgeRule, Properties: {}}`), "Pattern"},
		{"rule retries", withEvent(`{Type: EventBridgeRule, Properties: {Pattern: {a: [b]}, RetryPolicy: {MaximumRetryAttempts: 186}}}`), "0 to 185"},
		{"schedule input", withEvent(`{Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 day), Input: "{"}}`), "not JSON"},
		{"timeout", function(`CodeUri: f, Timeout: 901`), "over Lambda's"},
		{"memory", function(`CodeUri: f, MemorySize: much`), `"much" is not a whole number`},
		{"retries", function(`CodeUri: f, EventInvokeConfig: {MaximumRetryAttempts: 3}`), "not 0 to 2"},
		{"URL with a buffer", function(`CodeUri: f, FunctionUrlConfig: {AuthType: NONE}`), `InvokeMode "" is not supported`},
		{"URL with IAM", function(`CodeUri: f, FunctionUrlConfig: {AuthType: AWS_IAM, InvokeMode: RESPONSE_STREAM}`), `AuthType "AWS_IAM"`},
		{"managed policy", function(`CodeUri: f, Policies: [AWSLambdaExecute]`), "policy 1: only policies written out"},
		{"deny", function(`CodeUri: f, Policies: {Statement: [{Effect: Deny, Action: a, Resource: b}]}`), `effect "Deny"`},
		{"other resource", "Resources: {Q: {Type: AWS::Lambda::Function}}", "resource Q: the type AWS::Lambda::Function is not supported"},
		{"WebSocket target", "Resources: {W: {Type: AWS::Serverless::WebSocketApi, Properties: {RouteSelectionExpression: x, " +
			"Routes: {$default: {FunctionArn: 'arn:aws:lambda:r:1:function:gone'}}}}}", `"gone" is no function`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := sam.Parse([]byte(tc.template), sam.Inputs{})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestTwoFoldersOfOneName(t *testing.T) {
	const template = `
Resources:
  A: {Type: AWS::Serverless::Function, Properties: {CodeUri: a/same}}
  B: {Type: AWS::Serverless::Function, Properties: {CodeUri: b/same}}
`
	if _, err := sam.Parse([]byte(template), sam.Inputs{}); err == nil || !strings.Contains(err.Error(), "same name as that of A") {
		t.Errorf("error = %v, want one about the name", err)
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "template.yaml")
	if _, err := sam.Load(path, sam.Inputs{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error = %v, want one with %s", err, path)
	}
	if err := os.WriteFile(path, []byte("Resources: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sam.Load(path, sam.Inputs{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error = %v, want one with %s", err, path)
	}
}
