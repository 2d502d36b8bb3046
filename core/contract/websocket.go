package contract

import "encoding/json"

// ClientMessage is what a client sends over the WebSocket. Without action it is a chat message. UserID is accepted and
// ignored: identity comes from the verified token.
type ClientMessage struct {
	Action     string    `json:"action,omitempty"` // "", "message", "stop", "subscribe", "decide", "ping"
	Request    string    `json:"request,omitempty"`
	SessionID  string    `json:"session_id,omitempty"`
	UserID     string    `json:"user_id,omitempty"`
	Admission  Admission `json:"admission,omitempty"`
	DeliveryID string    `json:"delivery_id,omitempty"`
	StartIndex *int64    `json:"start_index,omitempty"`
	Clear      bool      `json:"clear,omitempty"`
	ActionID   string    `json:"action_id,omitempty"` // with decide: the call
	Decision   Verdict   `json:"decision,omitempty"`
	Reason     string    `json:"reason,omitempty"`
}

// ServerMessage is what a client receives. Type is stream_event, complete or error (and pong, subscribed and decided as answers
// to actions an old client never sends); the fields after Message are additions that an old client ignores. A message about a turn
// that has no Seq repeats what was sent before, or tells what happened before the connection followed the session.
type ServerMessage struct {
	Type      string           `json:"type"`
	Event     *StreamEventBody `json:"event,omitempty"`
	SessionID string           `json:"session_id,omitempty"`
	Error     string           `json:"error,omitempty"`
	Message   string           `json:"message,omitempty"`

	TurnID     string `json:"turn_id,omitempty"`
	Fence      int64  `json:"fence,omitempty"`
	Seq        *int64 `json:"seq,omitempty"`    // per fence, from 0
	Index      *int64 `json:"index,omitempty"`  // of the durable event this belongs to
	Offset     *int64 `json:"offset,omitempty"` // characters (code points) of the answer before this piece
	DeliveryID string `json:"delivery_id,omitempty"`
	Usage      *Usage `json:"usage,omitempty"`     // of a turn that is complete
	Status     string `json:"status,omitempty"`    // with subscribed: where the session stands; with decided: what was decided
	More       bool   `json:"more,omitempty"`      // with subscribed: subscribe again from Index for the rest
	ActionID   string `json:"action_id,omitempty"` // with decided, and with an error about a decision: the call
}

// The types of ServerMessage.
const (
	TypeStreamEvent = "stream_event"
	TypeComplete    = "complete"
	TypeError       = "error"
	TypePong        = "pong"
	TypeSubscribed  = "subscribed" // all that ended before Index has been told; what comes later is told as it happens
	TypeDecided     = "decided"    // the decision about a call is recorded
)

// FeatureReset is the feature of clients that understand reset events. A client names it when it connects (features=reset).
const FeatureReset = "reset"

// FeatureApprovals is the feature of clients that can ask a person: they are told of tool calls that wait for approval
// (features=approvals).
const FeatureApprovals = "approvals"

// StreamEventBody is the event of a stream_event: exactly one field is set.
type StreamEventBody struct {
	Data           *string      `json:"data,omitempty"`
	CurrentToolUse *ToolUseBody `json:"current_tool_use,omitempty"`
	InitEventLoop  bool         `json:"init_event_loop,omitempty"`
	Complete       bool         `json:"complete,omitempty"`
	Reset          *ResetBody   `json:"reset,omitempty"` // only to clients that asked for it with features=reset

	Approval *ApprovalBody `json:"approval,omitempty"` // likewise, with features=approvals
}

// ToolUseBody says that the model has begun a tool call.
type ToolUseBody struct {
	Name      string `json:"name"`
	ToolUseID string `json:"tool_use_id"`
}

// MaxApprovalInput is the largest input of a call, in bytes, that an approval message carries.
const MaxApprovalInput = 16 * 1024

// ApprovalBody tells a client that a tool call waits for a person, and later what was decided.
type ApprovalBody struct {
	ActionID  string          `json:"action_id"`
	Name      string          `json:"name"`            // of the tool
	Status    string          `json:"status"`          // pending; then approved, denied, expired, void: the turn ended before
	Input     json.RawMessage `json:"input,omitempty"` // of one that is pending; left out when it has over MaxApprovalInput bytes
	ExpiresAt Instant         `json:"expires_at,omitempty"`
	By        string          `json:"by,omitempty"`
	Reason    string          `json:"reason,omitempty"`
}

// Body gives the request in the form that clients receive over the WebSocket.
func (r ApprovalRequested) Body() ApprovalBody {
	b := ApprovalBody{ActionID: r.ActionID, Name: r.Name, Status: "pending", Input: r.Input, ExpiresAt: r.ExpiresAt}
	if len(b.Input) > MaxApprovalInput {
		b.Input = nil
	}
	return b
}

// Body gives the outcome in the form that clients receive over the WebSocket.
func (r ApprovalResolved) Body() ApprovalBody {
	return ApprovalBody{ActionID: r.ActionID, Name: r.Name, Status: r.Decision, By: r.By, Reason: r.Reason}
}

// ResetBody tells the client to drop the text of a failed attempt.
type ResetBody struct {
	Attempt int `json:"attempt"`
}
