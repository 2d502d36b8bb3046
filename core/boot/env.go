// Package boot opens what a function needs of the outside world: the environment, checked once at cold start, and clients
// that are made when they are first used. It links no model: package host does.
package boot

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Env is the environment of a function, with its defaults.
type Env struct {
	TableName            string            // TABLE_NAME
	EventBusName         string            // EVENT_BUS_NAME, default "default"
	EventSource          string            // EVENT_SOURCE, default contract.Source
	Region               string            // AWS_REGION, default us-east-1
	BedrockRegion        string            // BEDROCK_REGION, default Region
	ModelID              string            // BEDROCK_MODEL_ID; "": the model package's default
	MaxTokens            int               // BEDROCK_MAX_TOKENS, default 4096
	Temperature          float64           // BEDROCK_TEMPERATURE, default 0.7
	ContextTokens        int               // BEDROCK_CONTEXT_TOKENS, default 0: what the model package knows of the model
	Compaction           string            // COMPACTION, "summary" or "drop"
	GuardrailID          string            // GUARDRAIL_ID, of every model call; "": none
	GuardrailVersion     string            // GUARDRAIL_VERSION, default DRAFT
	Memory               string            // AGENT_MEMORY, what is kept of users across conversations: "none", "table" or "agentcore"
	MemoryID             string            // AGENT_MEMORY_ID, of an AgentCore Memory, which is then used whatever Memory says
	WebSocketEndpoint    string            // WEBSOCKET_ENDPOINT, https://
	StreamEndpoint       string            // STREAM_ENDPOINT, https://; "": streams are not offered
	CognitoIssuer        string            // COGNITO_ISSUER
	CognitoClientID      string            // COGNITO_CLIENT_ID
	MCPAllowedHosts      contract.MCPHosts // MCP_ALLOWED_HOSTS, comma-separated; none: no host
	HTTPAllowedHosts     []string          // HTTP_ALLOWED_HOSTS, comma-separated, of the tool http_request; none: every public host
	SystemTaskPrincipals string            // SYSTEM_TASK_PRINCIPALS
	MaxTaskDepth         int               // MAX_TASK_DEPTH, default 8
	MaxTurns             int               // MAX_RUNNING_TURNS of the stack, default 0: as many as come
	MaxTurnsOfOne        int               // MAX_RUNNING_TURNS_PER_PRINCIPAL, likewise
	ApprovalHours        int               // APPROVAL_HOURS, how long a call waits for a person, default 24
	Strands              bool              // SNAPSHOT_FORMAT=strands
	SchedulesEnabled     bool              // SCHEDULES_ENABLED, true (default) or false
	ScheduleGroup        string            // SCHEDULE_GROUP, of events that come later and reminders, default "default"
	SchedulerRoleARN     string            // SCHEDULER_ROLE_ARN, what schedules put events as
	WebhookSecret        string            // WEBHOOK_SECRET_PARAMETER, the name of the parameter with the secret that signs webhooks; "": none are taken or sent
	WebhookURL           string            // WEBHOOK_URL, who is told what happens in channels; "": nobody
	ScheduleDeadLetters  string            // SCHEDULE_DEAD_LETTER_ARN, the queue for what a schedule could not deliver; "": none
}

// Need is a variable that a function cannot do without.
type Need string

// The needs.
const (
	Table     Need = "TABLE_NAME"
	WebSocket Need = "WEBSOCKET_ENDPOINT"
	Issuer    Need = "COGNITO_ISSUER"
	ClientID  Need = "COGNITO_CLIENT_ID"

	ScheduleGroup Need = "SCHEDULE_GROUP"
	SchedulerRole Need = "SCHEDULER_ROLE_ARN"
)

// Load reads the environment. The error names every variable that is missing or malformed, all at once, and no value. Faults:
// Invalid.
func Load(getenv func(string) string, needs ...Need) (Env, error) {
	r := reader{getenv: getenv}
	for _, n := range needs {
		if getenv(string(n)) == "" {
			r.problems = append(r.problems, string(n)+" is missing")
		}
	}
	region := r.or("AWS_REGION", "us-east-1")
	e := Env{
		TableName: getenv("TABLE_NAME"), EventBusName: r.or("EVENT_BUS_NAME", "default"), EventSource: r.or("EVENT_SOURCE", contract.Source),
		Region: region, BedrockRegion: r.or("BEDROCK_REGION", region), ModelID: getenv("BEDROCK_MODEL_ID"),
		MaxTokens: r.number("BEDROCK_MAX_TOKENS", 4096, 1, 1_000_000), Temperature: r.fraction("BEDROCK_TEMPERATURE", 0.7),
		ContextTokens: r.number("BEDROCK_CONTEXT_TOKENS", 0, 0, 10_000_000), Compaction: r.oneOf("COMPACTION", "summary", "drop"),
		GuardrailID: getenv("GUARDRAIL_ID"), GuardrailVersion: getenv("GUARDRAIL_VERSION"),
		Memory: r.oneOf("AGENT_MEMORY", "none", "table", "agentcore"), MemoryID: getenv("AGENT_MEMORY_ID"),
		WebSocketEndpoint: r.url("WEBSOCKET_ENDPOINT"), StreamEndpoint: r.url("STREAM_ENDPOINT"), CognitoIssuer: r.url("COGNITO_ISSUER"), CognitoClientID: getenv("COGNITO_CLIENT_ID"),
		MCPAllowedHosts: list(getenv("MCP_ALLOWED_HOSTS")), HTTPAllowedHosts: list(getenv("HTTP_ALLOWED_HOSTS")), SystemTaskPrincipals: getenv("SYSTEM_TASK_PRINCIPALS"),
		SchedulesEnabled: r.oneOf("SCHEDULES_ENABLED", "true", "false") == "true", ScheduleGroup: r.or("SCHEDULE_GROUP", "default"), SchedulerRoleARN: getenv("SCHEDULER_ROLE_ARN"), ScheduleDeadLetters: getenv("SCHEDULE_DEAD_LETTER_ARN"),
		WebhookSecret: getenv("WEBHOOK_SECRET_PARAMETER"), WebhookURL: r.url("WEBHOOK_URL"),
		MaxTurns: r.number("MAX_RUNNING_TURNS", 0, 0, 10_000), MaxTurnsOfOne: r.number("MAX_RUNNING_TURNS_PER_PRINCIPAL", 0, 0, 10_000),
		ApprovalHours: r.number("APPROVAL_HOURS", 24, 1, 672),
		MaxTaskDepth:  r.number("MAX_TASK_DEPTH", 8, 1, 64), Strands: r.oneOf("SNAPSHOT_FORMAT", "segments", "strands") == "strands",
	}
	if err := e.MCPAllowedHosts.Check(); err != nil {
		r.problems = append(r.problems, "MCP_ALLOWED_HOSTS must be hosts, without https:// and path")
	}
	if e.Memory == "agentcore" && e.MemoryID == "" {
		r.problems = append(r.problems, "AGENT_MEMORY_ID is missing")
	}
	if strings.HasPrefix(e.EventSource, "aws.") {
		r.problems = append(r.problems, "EVENT_SOURCE must not start with aws.")
	}
	if len(r.problems) > 0 {
		return Env{}, fault.New(fault.Invalid, "environment: %s", strings.Join(r.problems, "; "))
	}
	return e, nil
}

// reader collects what is wrong.
type reader struct {
	getenv   func(string) string
	problems []string
}

func (r *reader) or(name, fallback string) string {
	if v := r.getenv(name); v != "" {
		return v
	}
	return fallback
}

func (r *reader) number(name string, fallback, from, to int) int {
	text := r.getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < from || n > to {
		r.problems = append(r.problems, fmt.Sprintf("%s must be a whole number from %d to %d", name, from, to))
	}
	return n
}

func (r *reader) fraction(name string, fallback float64) float64 {
	text := r.getenv(name)
	if text == "" {
		return fallback
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		r.problems = append(r.problems, name+" must be a number from 0 to 1")
	}
	return f
}

func (r *reader) url(name string) string {
	text := strings.TrimSuffix(r.getenv(name), "/")
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		r.problems = append(r.problems, name+" must be a URL with https")
	}
	return text
}

func (r *reader) oneOf(name string, values ...string) string {
	text := r.or(name, values[0])
	for _, v := range values {
		if text == v {
			return v
		}
	}
	r.problems = append(r.problems, fmt.Sprintf("%s must be %s", name, strings.Join(values, " or ")))
	return values[0]
}

// list splits at commas and drops what is empty.
func list(text string) []string {
	var all []string
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}
