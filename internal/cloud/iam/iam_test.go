package iam_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	gateway "github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	models "github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamo "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	events "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedule "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/iam"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

const (
	table = "arn:aws:dynamodb:us-east-1:000000000000:table/rows"
	role  = "arn:aws:iam::000000000000:role/scheduler"
)

// stack grants "all" everything the tests do, "reader" little, and "none" nothing.
func stack() *sam.Stack {
	return &sam.Stack{Region: "us-east-1", Account: "000000000000", WebSocket: &sam.WebSocketAPI{ID: "ws1", Stage: "live"},
		Queues: []sam.Queue{{Name: "dead", ARN: "arn:aws:sqs:us-east-1:000000000000:dead"}},
		Functions: []sam.Function{
			{Name: "all", Policies: []sam.Statement{
				{Actions: []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem", "dynamodb:Query"}, Resources: []string{table, table + "/index/due"}},
				{Actions: []string{"events:PutEvents"}, Resources: []string{"arn:aws:events:us-east-1:000000000000:event-bus/default"}},
				{Actions: []string{"execute-api:ManageConnections"}, Resources: []string{"arn:aws:execute-api:us-east-1:000000000000:ws1/live/POST/@connections/*"}},
				{Actions: []string{"bedrock:InvokeModel*"}, Resources: []string{"arn:aws:bedrock:*::foundation-model/*", "arn:aws:bedrock:*:000000000000:inference-profile/*"}},
				{Actions: []string{"bedrock:ApplyGuardrail"}, Resources: []string{"arn:aws:bedrock:us-east-1:000000000000:guardrail/gr1"}},
				{Actions: []string{"scheduler:*Schedule"}, Resources: []string{"arn:aws:scheduler:us-east-1:000000000000:schedule/team/*"}},
				{Actions: []string{"iam:PassRole"}, Resources: []string{role}},
				{Actions: []string{"sqs:SendMessage"}, Resources: []string{"arn:aws:sqs:us-east-1:000000000000:dead"}},
			}},
			{Name: "reader", Policies: []sam.Statement{{Actions: []string{"dynamodb:GetItem"}, Resources: []string{table}}}},
			{Name: "none"},
		}}
}

type caller struct {
	url string
	key string
}

func (c caller) credentials() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(c.key, "x", "")
}

// call is one AWS call through the real client.
type call func(t *testing.T, c caller) error

func tables(c caller) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &c.url, Credentials: c.credentials(), RetryMaxAttempts: 1})
}

func getItem(t *testing.T, c caller) error {
	_, err := tables(c).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("rows"), Key: map[string]dynamo.AttributeValue{}})
	return err
}

func query(index string) call {
	return func(t *testing.T, c caller) error {
		in := &dynamodb.QueryInput{TableName: aws.String("rows")}
		if index != "" {
			in.IndexName = &index
		}
		_, err := tables(c).Query(t.Context(), in)
		return err
	}
}

func transact(item dynamo.TransactWriteItem) call {
	return func(t *testing.T, c caller) error {
		check := dynamo.TransactWriteItem{ConditionCheck: &dynamo.ConditionCheck{TableName: aws.String("rows"), ConditionExpression: aws.String("a = b"), Key: map[string]dynamo.AttributeValue{}}}
		_, err := tables(c).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []dynamo.TransactWriteItem{check, item}})
		return err
	}
}

func batchWrite(t *testing.T, c caller) error {
	_, err := tables(c).BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]dynamo.WriteRequest{
		"rows": {{DeleteRequest: &dynamo.DeleteRequest{Key: map[string]dynamo.AttributeValue{}}}}}})
	return err
}

func putEvents(bus string) call {
	return func(t *testing.T, c caller) error {
		client := eventbridge.New(eventbridge.Options{Region: "us-east-1", BaseEndpoint: &c.url, Credentials: c.credentials(), RetryMaxAttempts: 1})
		_, err := client.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []events.PutEventsRequestEntry{{}, {EventBusName: &bus}}})
		return err
	}
}

func post(stage string) call {
	return func(t *testing.T, c caller) error {
		client := apigatewaymanagementapi.New(apigatewaymanagementapi.Options{Region: "us-east-1", BaseEndpoint: aws.String(c.url + "/" + stage), Credentials: c.credentials(), RetryMaxAttempts: 1})
		_, err := client.PostToConnection(t.Context(), &apigatewaymanagementapi.PostToConnectionInput{ConnectionId: aws.String("abc/d="), Data: []byte("{}")})
		return err
	}
}

func deleteConnection(t *testing.T, c caller) error {
	client := apigatewaymanagementapi.New(apigatewaymanagementapi.Options{Region: "us-east-1", BaseEndpoint: aws.String(c.url + "/live"), Credentials: c.credentials(), RetryMaxAttempts: 1})
	_, err := client.DeleteConnection(t.Context(), &apigatewaymanagementapi.DeleteConnectionInput{ConnectionId: aws.String("abc")})
	return err
}

func converse(model string) call {
	return func(t *testing.T, c caller) error {
		client := bedrockruntime.New(bedrockruntime.Options{Region: "us-east-1", BaseEndpoint: &c.url, Credentials: c.credentials(), RetryMaxAttempts: 1})
		_, err := client.Converse(t.Context(), &bedrockruntime.ConverseInput{ModelId: &model})
		return err
	}
}

func guarded(guardrail string) call {
	return func(t *testing.T, c caller) error {
		client := bedrockruntime.New(bedrockruntime.Options{Region: "us-east-1", BaseEndpoint: &c.url, Credentials: c.credentials(), RetryMaxAttempts: 1})
		_, err := client.Converse(t.Context(), &bedrockruntime.ConverseInput{
			ModelId: aws.String("amazon.nova-lite-v1:0"), GuardrailConfig: &models.GuardrailConfiguration{GuardrailIdentifier: &guardrail, GuardrailVersion: aws.String("1")},
		})
		return err
	}
}

func createSchedule(group, roleARN string) call {
	return func(t *testing.T, c caller) error {
		client := scheduler.New(scheduler.Options{Region: "us-east-1", BaseEndpoint: &c.url, Credentials: c.credentials(), RetryMaxAttempts: 1})
		_, err := client.CreateSchedule(t.Context(), &scheduler.CreateScheduleInput{Name: aws.String("s1"), GroupName: &group, ScheduleExpression: aws.String("x"),
			FlexibleTimeWindow: &schedule.FlexibleTimeWindow{Mode: schedule.FlexibleTimeWindowModeOff}, Target: &schedule.Target{Arn: aws.String("x"), RoleArn: &roleARN}})
		return err
	}
}

func deleteSchedule(t *testing.T, c caller) error {
	client := scheduler.New(scheduler.Options{Region: "us-east-1", BaseEndpoint: &c.url, Credentials: c.credentials(), RetryMaxAttempts: 1})
	_, err := client.DeleteSchedule(t.Context(), &scheduler.DeleteScheduleInput{Name: aws.String("s1"), GroupName: aws.String("team")})
	return err
}

// raw is a call without a client of its own.
func raw(target, method, path, body string) call {
	return func(t *testing.T, c caller) error {
		req, err := http.NewRequestWithContext(t.Context(), method, c.url+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+c.key+"/20260101/us-east-1/x/aws4_request, SignedHeaders=host, Signature=0")
		if target != "" {
			req.Header.Set("X-Amz-Target", target)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode/100 == 2 {
			return nil
		}
		return &smithy.GenericAPIError{Code: resp.Header.Get("X-Amzn-Errortype")}
	}
}

// serve is a guarded service that answers everything with an empty success.
func serve(t *testing.T, g *iam.Guard) string {
	srv := httptest.NewServer(g.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})))
	t.Cleanup(srv.Close)
	return srv.URL
}

// denials are the calls that were denied to the function, in the words of the error.
func denials(g *iam.Guard, function string) string {
	var b strings.Builder
	for _, f := range g.Report().Functions {
		for _, c := range f.Denied {
			if f.Function == function {
				b.WriteString(c.Action + " on resource: " + c.Resource + " \n")
			}
		}
	}
	return b.String()
}

func TestCalls(t *testing.T) {
	put := dynamo.TransactWriteItem{Put: &dynamo.Put{TableName: aws.String("rows"), Item: map[string]dynamo.AttributeValue{}}}
	del := dynamo.TransactWriteItem{Delete: &dynamo.Delete{TableName: aws.String("rows"), Key: map[string]dynamo.AttributeValue{}}}
	tests := []struct {
		name     string
		do       call
		function string
		missing  string // action and resource that are not granted; empty: allowed
	}{
		{"get", getItem, "all", ""},
		{"get as a reader", getItem, "reader", ""},
		{"get with nothing", getItem, "none", "dynamodb:GetItem on resource: " + table + " "},
		{"get of a function that is not there", getItem, "other", "dynamodb:GetItem"},
		{"query", query(""), "all", ""},
		{"query of an index", query("due"), "all", ""},
		{"query of another index", query("other"), "all", "dynamodb:Query on resource: " + table + "/index/other "},
		{"query as a reader", query(""), "reader", "dynamodb:Query"},
		{"transaction", transact(put), "all", ""},
		{"transaction with a part not granted", transact(del), "all", "dynamodb:DeleteItem on resource: " + table + " "},
		{"batch", batchWrite, "all", "dynamodb:BatchWriteItem on resource: " + table + " "},
		{"events", putEvents("default"), "all", ""},
		{"events by ARN", putEvents("arn:aws:events:us-east-1:000000000000:event-bus/default"), "all", ""},
		{"events on another bus", putEvents("own"), "all", "events:PutEvents on resource: arn:aws:events:us-east-1:000000000000:event-bus/own "},
		{"post to a connection", post("live"), "all", ""},
		{"post to another stage", post("test"), "all", "execute-api:ManageConnections on resource: arn:aws:execute-api:us-east-1:000000000000:ws1/test/POST/@connections/abc/d= "},
		{"delete a connection", deleteConnection, "all", "ws1/live/DELETE/@connections/abc "},
		{"model", converse("amazon.nova-lite-v1:0"), "all", ""},
		{"profile", converse("us.amazon.nova-lite-v1:0"), "all", ""},
		{"profile by ARN", converse("arn:aws:bedrock:us-east-1:000000000000:inference-profile/us.x"), "all", ""},
		{"guardrail", guarded("gr1"), "all", ""},
		{"guardrail by ARN", guarded("arn:aws:bedrock:us-east-1:000000000000:guardrail/gr1"), "all", ""},
		{"another guardrail", guarded("gr2"), "all", "bedrock:ApplyGuardrail on resource: arn:aws:bedrock:us-east-1:000000000000:guardrail/gr2 "},
		{"model as a reader", converse("us.amazon.nova-lite-v1:0"), "reader", "bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1:000000000000:inference-profile/us.amazon.nova-lite-v1:0 "},
		{"schedule", createSchedule("team", role), "all", ""},
		{"schedule in another group", createSchedule("default", role), "all", "scheduler:CreateSchedule on resource: arn:aws:scheduler:us-east-1:000000000000:schedule/default/s1 "},
		{"schedule with another role", createSchedule("team", role+"2"), "all", "iam:PassRole on resource: " + role + "2 "},
		{"delete a schedule", deleteSchedule, "all", ""},
	}
	g := iam.New(stack(), nil)
	url := serve(t, g)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.do(t, caller{url, "fn-" + tt.function})
			if tt.missing == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var api smithy.APIError
			if !errors.As(err, &api) {
				t.Fatalf("error %v, want %q denied", err, tt.missing)
			}
			// The model of @connections gives its ForbiddenException no message.
			saysWhat := strings.Contains(api.ErrorMessage(), "not authorized to perform: ") && strings.Contains(api.ErrorMessage(), tt.missing)
			if api.ErrorCode() == "AccessDeniedException" && !saysWhat || api.ErrorCode() != "AccessDeniedException" && api.ErrorCode() != "ForbiddenException" {
				t.Errorf("error %v, want %q denied", err, tt.missing)
			}
			if tt.function != "other" && !strings.Contains(denials(g, tt.function), tt.missing) {
				t.Errorf("the books have %s, want %q", denials(g, tt.function), tt.missing)
			}
		})
	}
	var forbidden *gateway.ForbiddenException
	if err := post("test")(t, caller{url, "fn-all"}); !errors.As(err, &forbidden) {
		t.Errorf("@connections: %T", err)
	}
	for _, key := range []string{"developer", "AKIAEXAMPLE"} {
		if err := getItem(t, caller{url, key}); err != nil {
			t.Errorf("the developer was refused: %v", err)
		}
	}
}

func TestRawCalls(t *testing.T) {
	tests := []struct {
		name string
		do   call
		ok   bool
	}{
		{"send", raw("AmazonSQS.SendMessage", "POST", "/", `{"QueueUrl":"http://127.0.0.1/000000000000/dead"}`), true},
		{"receive", raw("AmazonSQS.ReceiveMessage", "POST", "/", `{"QueueUrl":"http://127.0.0.1/000000000000/dead"}`), false},
		{"list tables", raw("DynamoDB_20120810.ListTables", "POST", "/", `{}`), false},
		{"list schedules", raw("", "GET", "/schedules", ""), false},
		{"make a group", raw("", "POST", "/schedule-groups/team", "{}"), false},
		{"invoke a function", raw("", "POST", "/2015-03-31/functions/all/invocations", "{}"), false},
		{"a document", raw("", "GET", "/pool/.well-known/jwks.json", ""), true},
		{"a body that is no JSON goes to the service", raw("DynamoDB_20120810.GetItem", "POST", "/", `{`), true},
	}
	url := serve(t, iam.New(stack(), nil))
	for _, tt := range tests {
		if err := tt.do(t, caller{url, "fn-all"}); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestWildcards(t *testing.T) {
	s := stack()
	tests := []struct {
		pattern, resource string
		want              bool
	}{
		{"*", "anything/at:all", true},
		{"a*", "abc", true},
		{"a*c", "abbc", true},
		{"a*c", "abcd", false},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"a*b*c", "a1b2b3c", true},
		{"a*b*c", "a1c2b", false},
		{"abc", "ABC", false},
		{"", "a", false},
		{"abc*", "abc", true},
	}
	for _, tt := range tests {
		s.Functions = []sam.Function{{Name: "f", Policies: []sam.Statement{{Actions: []string{"DynamoDB:get*"}, Resources: []string{tt.pattern}}}}}
		if got := iam.New(s, nil).Check("f", "dynamodb:GetItem", tt.resource) == nil; got != tt.want {
			t.Errorf("%q covers %q: %v", tt.pattern, tt.resource, got)
		}
	}
}

func TestReport(t *testing.T) {
	s := stack()
	s.Functions = s.Functions[1:]
	s.Functions[0].Policies[0].Actions = append(s.Functions[0].Policies[0].Actions, "dynamodb:Query")
	g := iam.New(s, nil)
	for range 2 {
		if err := g.Check("reader", "dynamodb:GetItem", table); err != nil {
			t.Fatal(err)
		}
	}
	if g.Check("reader", "dynamodb:PutItem", table) == nil {
		t.Fatal("a write was allowed")
	}
	want := iam.Report{Functions: []iam.FunctionReport{
		{Function: "reader", Calls: 2, Used: []iam.Grant{{Action: "dynamodb:GetItem", Resource: table, Uses: 2}}, Unused: []iam.Grant{{Action: "dynamodb:Query", Resource: table}},
			Denied: []iam.Call{{Action: "dynamodb:PutItem", Resource: table, Times: 1}}},
		{Function: "none"},
	}}
	if diff := cmp.Diff(want, g.Report()); diff != "" {
		t.Error(diff)
	}
	text := "reader: 2 calls\n  denied    1  dynamodb:PutItem on " + table + "\n  used      2  dynamodb:GetItem on " + table + "\n  never used   dynamodb:Query on " + table + "\nnone: 0 calls\n"
	if diff := cmp.Diff(text, g.Report().String()); diff != "" {
		t.Error(diff)
	}
}
