package boot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// from is an environment.
func from(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestDefaults(t *testing.T) {
	got, err := boot.Load(from(nil))
	want := boot.Env{
		EventBusName: "default", EventSource: "readysetcloud.agent", Region: "us-east-1", BedrockRegion: "us-east-1",
		MaxTokens: 4096, Temperature: 0.7, Compaction: "summary", Memory: "none", MaxTaskDepth: 8, ApprovalHours: 24, ScheduleGroup: "default", SchedulesEnabled: true,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Load of nothing: %v (-want +got):\n%s", err, diff)
	}
}

func TestLoad(t *testing.T) {
	got, err := boot.Load(from(map[string]string{
		"TABLE_NAME": "agents", "EVENT_BUS_NAME": "apps", "EVENT_SOURCE": "acme.agent", "AWS_REGION": "eu-west-1",
		"BEDROCK_REGION": "us-west-2", "BEDROCK_MODEL_ID": "m", "BEDROCK_MAX_TOKENS": "100", "BEDROCK_TEMPERATURE": "0",
		"WEBSOCKET_ENDPOINT": "https://ws.example.com/live/", "COGNITO_ISSUER": "https://issuer.example.com/pool", "COGNITO_CLIENT_ID": "c",
		"MCP_ALLOWED_HOSTS": " mcp.example.com , ,tools.example.com", "HTTP_ALLOWED_HOSTS": "api.example.com, *.example.org", "SYSTEM_TASK_PRINCIPALS": "ada:*", "MAX_TASK_DEPTH": "3",
		"BEDROCK_CONTEXT_TOKENS": "16000", "COMPACTION": "drop", "SNAPSHOT_FORMAT": "strands", "SCHEDULE_GROUP": "g", "SCHEDULES_ENABLED": "false", "SCHEDULER_ROLE_ARN": "arn:aws:iam::1:role/r", "SCHEDULE_DEAD_LETTER_ARN": "arn:aws:sqs:q",
		"WEBHOOK_SECRET_PARAMETER": "/hooks", "WEBHOOK_URL": "https://hooks.example.com/in",
		"GUARDRAIL_ID": "gr1", "GUARDRAIL_VERSION": "3", "AGENT_MEMORY": "agentcore", "AGENT_MEMORY_ID": "mem-1",
		"MAX_RUNNING_TURNS": "50", "MAX_RUNNING_TURNS_PER_PRINCIPAL": "2", "APPROVAL_HOURS": "672",
	}), boot.Table, boot.WebSocket, boot.Issuer, boot.ClientID)
	want := boot.Env{
		TableName: "agents", EventBusName: "apps", EventSource: "acme.agent", Region: "eu-west-1", BedrockRegion: "us-west-2", ModelID: "m",
		MaxTokens: 100, ContextTokens: 16000, Compaction: "drop", GuardrailID: "gr1", GuardrailVersion: "3", Memory: "agentcore", MemoryID: "mem-1", WebSocketEndpoint: "https://ws.example.com/live", CognitoIssuer: "https://issuer.example.com/pool", CognitoClientID: "c",
		MCPAllowedHosts: []string{"mcp.example.com", "tools.example.com"}, HTTPAllowedHosts: []string{"api.example.com", "*.example.org"}, SystemTaskPrincipals: "ada:*", MaxTaskDepth: 3, Strands: true,
		ScheduleGroup: "g", SchedulerRoleARN: "arn:aws:iam::1:role/r", WebhookSecret: "/hooks", WebhookURL: "https://hooks.example.com/in", ScheduleDeadLetters: "arn:aws:sqs:q",
		MaxTurns: 50, MaxTurnsOfOne: 2, ApprovalHours: 672,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Load: %v (-want +got):\n%s", err, diff)
	}
}

func TestBedrockIsInTheFunctionsRegion(t *testing.T) {
	got, err := boot.Load(from(map[string]string{"AWS_REGION": "eu-west-1"}))
	if err != nil || got.BedrockRegion != "eu-west-1" {
		t.Errorf("BedrockRegion = %q, %v, want the function's", got.BedrockRegion, err)
	}
}

// TestProblems: everything that is wrong is named at once, and no value is, because a value may be a secret.
func TestProblems(t *testing.T) {
	const secret = "hunter2"
	tests := []struct {
		name  string
		vars  map[string]string
		needs []boot.Need
		want  string
	}{
		{"one missing", nil, []boot.Need{boot.Table}, "TABLE_NAME is missing"},
		{"all missing", nil, []boot.Need{boot.Table, boot.WebSocket, boot.Issuer, boot.ClientID},
			"TABLE_NAME is missing; WEBSOCKET_ENDPOINT is missing; COGNITO_ISSUER is missing; COGNITO_CLIENT_ID is missing"},
		{"tokens", map[string]string{"BEDROCK_MAX_TOKENS": secret}, nil, "BEDROCK_MAX_TOKENS must be a whole number from 1 to 1000000"},
		{"no tokens", map[string]string{"BEDROCK_MAX_TOKENS": "0"}, nil, "BEDROCK_MAX_TOKENS must be a whole number from 1 to 1000000"},
		{"temperature", map[string]string{"BEDROCK_TEMPERATURE": secret}, nil, "BEDROCK_TEMPERATURE must be a number from 0 to 1"},
		{"too hot", map[string]string{"BEDROCK_TEMPERATURE": "1.1"}, nil, "BEDROCK_TEMPERATURE must be a number from 0 to 1"},
		{"not a number at all", map[string]string{"BEDROCK_TEMPERATURE": "NaN"}, nil, "BEDROCK_TEMPERATURE must be a number from 0 to 1"},
		{"window", map[string]string{"BEDROCK_CONTEXT_TOKENS": secret}, nil, "BEDROCK_CONTEXT_TOKENS must be a whole number from 0 to 10000000"},
		{"compaction", map[string]string{"COMPACTION": secret}, nil, "COMPACTION must be summary or drop"},
		{"memory", map[string]string{"AGENT_MEMORY": secret}, nil, "AGENT_MEMORY must be none or table or agentcore"},
		{"memory without an id", map[string]string{"AGENT_MEMORY": "agentcore"}, nil, "AGENT_MEMORY_ID is missing"},
		{"time to decide", map[string]string{"APPROVAL_HOURS": "0"}, nil, "APPROVAL_HOURS must be a whole number from 1 to 672"},
		{"depth", map[string]string{"MAX_TASK_DEPTH": "65"}, nil, "MAX_TASK_DEPTH must be a whole number from 1 to 64"},
		{"turns", map[string]string{"MAX_RUNNING_TURNS": "-1"}, nil, "MAX_RUNNING_TURNS must be a whole number from 0 to 10000"},
		{"turns of one", map[string]string{"MAX_RUNNING_TURNS_PER_PRINCIPAL": secret}, nil, "MAX_RUNNING_TURNS_PER_PRINCIPAL must be a whole number from 0 to 10000"},
		{"endpoint", map[string]string{"WEBSOCKET_ENDPOINT": secret}, nil, "WEBSOCKET_ENDPOINT must be a URL with https"},
		{"endpoint of another scheme", map[string]string{"WEBSOCKET_ENDPOINT": "ftp://" + secret}, nil, "WEBSOCKET_ENDPOINT must be a URL with https"},
		{"issuer", map[string]string{"COGNITO_ISSUER": "https://"}, nil, "COGNITO_ISSUER must be a URL with https"},
		{"format", map[string]string{"SNAPSHOT_FORMAT": secret}, nil, "SNAPSHOT_FORMAT must be segments or strands"},
		{"source", map[string]string{"EVENT_SOURCE": "aws." + secret}, nil, "EVENT_SOURCE must not start with aws."},
		{"an MCP server's URL", map[string]string{"MCP_ALLOWED_HOSTS": "mcp.example.com,https://" + secret}, nil, "MCP_ALLOWED_HOSTS must be hosts, without https:// and path"},
		{"plain MCP elsewhere", map[string]string{"MCP_ALLOWED_HOSTS": "http://" + secret + ":80"}, nil, "MCP_ALLOWED_HOSTS must be hosts, without https:// and path"},
		{"missing and malformed", map[string]string{"MAX_TASK_DEPTH": secret, "SNAPSHOT_FORMAT": secret}, []boot.Need{boot.Table},
			"TABLE_NAME is missing; MAX_TASK_DEPTH must be a whole number from 1 to 64; SNAPSHOT_FORMAT must be segments or strands"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := boot.Load(from(tc.vars), tc.needs...)
			if !fault.Is(err, fault.Invalid) || err.Error() != "environment: "+tc.want {
				t.Errorf("Load = %v, want %q", err, tc.want)
			}
			if strings.Contains(fmt.Sprint(err), secret) || !cmp.Equal(got, boot.Env{}) {
				t.Errorf("Load gave %+v and %v", got, err)
			}
		})
	}
}

func ExampleLoad() {
	_, err := boot.Load(func(string) string { return "" }, boot.Table, boot.WebSocket)
	fmt.Println(err)
	// Output: environment: TABLE_NAME is missing; WEBSOCKET_ENDPOINT is missing
}
