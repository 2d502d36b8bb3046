package sam_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// project loads the template that deploys.
func project(t *testing.T) *sam.Stack {
	t.Helper()
	stack, err := sam.Load("../../../template.yaml", sam.Inputs{
		Parameters: map[string]string{"CognitoUserPoolId": "us-east-1_local", "CognitoClientId": "steadfastdev"},
		Rewrite: func(s string) string {
			s = strings.Replace(s, "https://cognito-idp.us-east-1.amazonaws.com", "http://127.0.0.1:9000", 1)
			return strings.Replace(s, "https://websocketapi.execute-api.us-east-1.amazonaws.com", "http://127.0.0.1:8787", 1)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

func function(t *testing.T, s *sam.Stack, name string) sam.Function {
	t.Helper()
	for _, f := range s.Functions {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no function %q in %d functions", name, len(s.Functions))
	return sam.Function{}
}

func TestProjectTemplateFunction(t *testing.T) {
	got := function(t, project(t), "run-turn")
	bus := "arn:aws:events:us-east-1:000000000000:event-bus/default"
	want := map[string]string{
		"TABLE_NAME": "steadfast-Table", "EVENT_BUS_NAME": "default", "EVENT_SOURCE": "readysetcloud.agent",
		"WEBSOCKET_ENDPOINT": "http://127.0.0.1:8787/live", "BEDROCK_MODEL_ID": "us.amazon.nova-lite-v1:0",
		"BEDROCK_MAX_TOKENS": "4096", "BEDROCK_TEMPERATURE": "0.7", "BEDROCK_CONTEXT_TOKENS": "0", "COMPACTION": "summary", "SNAPSHOT_FORMAT": "segments",
		"MCP_ALLOWED_HOSTS": "", "MAX_TASK_DEPTH": "8",
	}
	for name, value := range want {
		if got.Env[name] != value {
			t.Errorf("run-turn has %s=%q, want %q", name, got.Env[name], value)
		}
	}
	if got.Memory != 512 || got.Timeout != 900*time.Second || got.Dir != "functions/run-turn" {
		t.Errorf("run-turn = %d MB, %v, %s", got.Memory, got.Timeout, got.Dir)
	}
	async := sam.AsyncConfig{
		MaxRetries: 2, MaxAge: 2 * time.Hour, OnFailure: "arn:aws:sqs:us-east-1:000000000000:steadfast-InvocationFailures",
	}
	if diff := cmp.Diff(async, got.Async); diff != "" {
		t.Errorf("run-turn's asynchronous invocations (-want +got):\n%s", diff)
	}
	events := sam.Statement{Actions: []string{"events:PutEvents"}, Resources: []string{bus}}
	if !slices.ContainsFunc(got.Policies, func(p sam.Statement) bool { return cmp.Equal(p, events) }) {
		t.Errorf("run-turn's policies lack %+v: %+v", events, got.Policies)
	}
}

func TestProjectTemplateAPIs(t *testing.T) {
	stack := project(t)
	http := stack.HTTP
	if http.JWT.Issuer != "http://127.0.0.1:9000/us-east-1_local" || http.JWT.Audience[0] != "steadfastdev" {
		t.Errorf("authorizer = %+v", http.JWT)
	}
	var routes []string
	for _, r := range http.Routes {
		if signed := r.Path == "/agent/channels/{channel}/messages"; r.Auth == signed { // what comes there is signed, not a user's
			t.Errorf("%s %s: a token is asked for: %t", r.Method, r.Path, r.Auth)
		}
		routes = append(routes, r.Method+" "+r.Path+" "+r.Function)
	}
	for _, want := range []string{"POST /agent/tasks create-task", "GET /agent/sessions/{sessionId} get-session"} {
		if !strings.Contains(strings.Join(routes, "\n"), want) {
			t.Errorf("no route %q among %q", want, routes)
		}
	}
	ws := stack.WebSocket
	want := map[string]string{"$connect": "ws-connect", "$disconnect": "ws-disconnect", "$default": "ws-message"}
	if diff := cmp.Diff(want, ws.Routes); diff != "" {
		t.Errorf("WebSocket routes (-want +got):\n%s", diff)
	}
	if ws.Authorizer != "ws-authorize" || ws.Stage != "live" || ws.RouteSelection != "$request.body.action" {
		t.Errorf("WebSocket = %+v", ws)
	}
	if ws.Timeouts["$default"] != 10*time.Second {
		t.Errorf("$default waits %v, want 10s", ws.Timeouts["$default"])
	}
}

// TestProjectTemplateURL: the address of a function is known to the one that tells it.
func TestProjectTemplateURL(t *testing.T) {
	stack := project(t)
	want := &sam.FunctionURL{
		Address: "https://stream-session.lambda-url.us-east-1.on.aws/",
		CORS:    sam.CORS{Origins: []string{"*"}, Methods: []string{"GET"}, Headers: []string{"authorization"}, MaxAge: 3600},
	}
	if diff := cmp.Diff(want, function(t, stack, "stream-session").URL); diff != "" {
		t.Errorf("URL of stream-session (-want +got):\n%s", diff)
	}
	if got := function(t, stack, "connect").Env["STREAM_ENDPOINT"]; got != want.Address {
		t.Errorf("connect has STREAM_ENDPOINT=%q", got)
	}
	if got := stack.Outputs["StreamUrl"]; got != want.Address {
		t.Errorf("output StreamUrl = %q", got)
	}
	if expose := stack.HTTP.CORS.Expose; len(expose) != 1 || expose[0] != "x-next-index" {
		t.Errorf("exposed headers = %q", expose)
	}
}

func TestProjectTemplateRest(t *testing.T) {
	stack := project(t)
	table := sam.Table{
		LogicalID: "Table", Name: "steadfast-Table", HashKey: "pk", SortKey: "sk", TTLAttribute: "expiresAt",
		Indexes: []sam.Index{{Name: "due", HashKey: "duePk", SortKey: "dueSk", KeysOnly: true}},
	}
	if diff := cmp.Diff(table, stack.Tables[0]); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	for _, r := range stack.Rules {
		if r.Name != "RunAgentTurn" {
			continue
		}
		want := sam.Rule{
			Name: "RunAgentTurn", Bus: "default", Function: "run-turn", MaxRetries: 24, MaxAge: 2 * time.Hour,
			Pattern:     []byte(`{"detail-type":["Run Agent Turn"],"source":["readysetcloud.agent"]}`),
			DeadLetters: "arn:aws:sqs:us-east-1:000000000000:steadfast-EventDeadLetters",
		}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("rule (-want +got):\n%s", diff)
		}
	}
	if len(stack.Rules) < 3 {
		t.Errorf("%d rules, want at least the three of tasks, turns and sessions", len(stack.Rules))
	}
	sweep := sam.Schedule{Name: "recover-EveryMinute", Expression: "rate(1 minute)", Function: "recover", Recurring: true}
	var found bool
	for _, s := range stack.Schedules {
		found = found || cmp.Equal(s, sweep)
	}
	if !found {
		t.Errorf("schedules = %+v, want %+v among them", stack.Schedules, sweep)
	}
	if got := stack.Outputs["WebSocketUrl"]; got != "wss://websocketapi.execute-api.us-east-1.amazonaws.com/live" {
		t.Errorf("output WebSocketUrl = %q", got)
	}
}

func TestTwoReadingsAreEqual(t *testing.T) {
	if diff := cmp.Diff(project(t), project(t)); diff != "" {
		t.Errorf("two readings of one template differ:\n%s", diff)
	}
}
