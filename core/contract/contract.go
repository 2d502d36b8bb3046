// Package contract holds what crosses the boundary: details of EventBridge events, WebSocket messages, events of a
// session's stream and HTTP bodies. Names and shapes are compatible with the TypeScript package: other stacks read and write
// them, so a change here is a change of the contract and shows in testdata. It decides nothing and does no I/O.
package contract

import (
	"encoding/json"
	"time"
)

// Source is the default source of the stack's events; EVENT_SOURCE overrides it.
const Source = "readysetcloud.agent"

// Detail types on the bus.
const (
	CreateAgentSession = "Create Agent Session"
	RunAgentTask       = "Run Agent Task"
	RunAgentTurn       = "Run Agent Turn"
	AgentTaskCompleted = "Agent Task Completed"
)

// Limits of what comes in.
const (
	MaxMessageBytes = 128 * 1024 // of one message or request text; API Gateway's own limit of a WebSocket message
	MaxIDBytes      = 256        // of an id that comes from outside
	MaxPromptBytes  = 64 * 1024  // of a system prompt
	MaxToolNames    = 128        // that a session or task picks
	MaxOutputTokens = 1_000_000  // that a session or task may ask for in one reply
	MaxTitleBytes   = 512        // of a session's title
)

// BusEvent is an EventBridge event as a function receives it.
type BusEvent[D any] struct {
	ID         string    `json:"id"`
	Source     string    `json:"source"`
	DetailType string    `json:"detail-type"`
	Time       time.Time `json:"time"`
	Detail     D         `json:"detail"`
}

// RawEvent is an event whose detail has not been decoded.
type RawEvent = BusEvent[json.RawMessage]

// Principal is who a task or session acts for: a verified user or a service.
type Principal struct {
	Type PrincipalType `json:"type" dynamodbav:"type"`
	ID   string        `json:"id" dynamodbav:"id"`
}

// PrincipalType is the kind of a principal.
type PrincipalType string

// The kinds of principal.
const (
	UserPrincipal   PrincipalType = "user"
	SystemPrincipal PrincipalType = "system"
)

// MCPServer names an external tool server of a session. Headers may hold ${MCP_...} variables of the host; AuthHeader is sent
// literally and last.
type MCPServer struct {
	URL             string            `json:"url,omitempty" dynamodbav:"url,omitempty"`
	Command         string            `json:"command,omitempty" dynamodbav:"command,omitempty"`
	Args            []string          `json:"args,omitempty" dynamodbav:"args,omitempty"`
	Headers         map[string]string `json:"headers,omitempty" dynamodbav:"headers,omitempty"`
	AuthHeader      *AuthHeader       `json:"authHeader,omitempty" dynamodbav:"authHeader,omitempty"`
	Disabled        bool              `json:"disabled,omitempty" dynamodbav:"disabled,omitempty"`
	ContinueOnError bool              `json:"continueOnError,omitempty" dynamodbav:"continueOnError,omitempty"`
}

// AuthHeader is one header that carries an identity to an MCP server.
type AuthHeader struct {
	Name  string `json:"name" dynamodbav:"name"`
	Value string `json:"value" dynamodbav:"value"`
}

// CreateSession is the detail of "Create Agent Session" and the body of POST /agent/sessions, which sets UserID and SessionID
// itself.
type CreateSession struct {
	SessionID    string               `json:"sessionId,omitempty"`
	UserID       string               `json:"userId,omitempty"`
	SystemPrompt string               `json:"systemPrompt,omitempty"`
	ModelID      string               `json:"modelId,omitempty"`
	Temperature  *float64             `json:"temperature,omitempty"`
	MaxTokens    int                  `json:"maxTokens,omitempty"`
	Title        string               `json:"title,omitempty"`
	Tools        []string             `json:"tools,omitzero"`
	MCPServers   map[string]MCPServer `json:"mcpServers,omitempty"`
}

// RunTurn is the detail of "Run Agent Turn".
type RunTurn struct {
	SessionID string `json:"sessionId"`
	NotBefore string `json:"notBefore,omitempty"`
}

// TaskCompleted is the detail of "Agent Task Completed".
type TaskCompleted struct {
	TaskID    string    `json:"taskId"`
	Status    string    `json:"status"`
	Output    string    `json:"output,omitempty"`
	OutputRef string    `json:"outputRef,omitempty"` // names a DETAIL row when the output is too large for the bus
	Error     string    `json:"error,omitempty"`
	Principal Principal `json:"principal"`
	Usage     *Usage    `json:"usage,omitempty"`
}

// TaskResult is the result of a task as answers, rows and events carry it.
type TaskResult struct {
	TaskID string `json:"taskId"`
	Status string `json:"status"`
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
	Usage  *Usage `json:"usage,omitempty"` // of a run that asked a model and has ended
}

// Admission says what happens to a message that arrives while a turn runs.
type Admission string

// The admissions.
const (
	Preempt  Admission = "preempt"  // interrupts it; the default of HTTP and WebSocket
	Coalesce Admission = "coalesce" // waits for a tool boundary or the next turn; the default of channels
	Reject   Admission = "reject"   // is refused while a turn runs
)

// SendMessage is the body of POST /agent/sessions/{sessionId}/messages. The first message of a session needs no ContinuationToken.
type SendMessage struct {
	Message           string            `json:"message"`
	ContinuationToken string            `json:"continuationToken"`
	Admission         Admission         `json:"admission,omitempty"`
	DeliveryID        string            `json:"deliveryId,omitempty"`
	Files             map[string]string `json:"files,omitempty"` // texts for the session's workspace, by path
}

// StopSession is the body of POST /agent/sessions/{sessionId}/stop. Clear also drops the messages that wait.
type StopSession struct {
	Clear bool `json:"clear,omitempty"`
}

// Delivery is the receipt of a message: the same DeliveryID gets the same receipt.
type Delivery struct {
	DeliveryID        string `json:"deliveryId"`
	SessionID         string `json:"sessionId,omitempty"`
	ContinuationToken string `json:"continuationToken,omitempty"`
}

// ErrorBody is the body of every HTTP answer that reports a fault.
type ErrorBody struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}
