package contract

import "encoding/json"

// ResolveApprovalType is the detail type of the event by which an app decides on a tool call for one of its users.
const ResolveApprovalType = "Resolve Agent Approval"

// Verdict is a person's decision on a tool call.
type Verdict string

// The verdicts.
const (
	Approve Verdict = "approve"
	Deny    Verdict = "deny"
)

// ResolveApproval is the detail of "Resolve Agent Approval": an app passes on the decision of one of its users.
type ResolveApproval struct {
	SessionID string  `json:"sessionId"`
	ActionID  string  `json:"actionId"`
	Decision  Verdict `json:"decision"`
	By        string  `json:"by"` // the user's id
	Reason    string  `json:"reason,omitempty"`
}

// DecideApproval is the body of POST /agent/sessions/{sessionId}/approvals/{actionId}.
type DecideApproval struct {
	Decision Verdict `json:"decision"`
	Reason   string  `json:"reason,omitempty"`
}

// Approval is a tool call that waits, or waited, for a person.
type Approval struct {
	ActionID    string          `json:"actionId"`
	SessionID   string          `json:"sessionId"`
	TurnID      string          `json:"turnId"`
	Name        string          `json:"name"` // of the tool
	Input       json.RawMessage `json:"input,omitempty"`
	Status      string          `json:"status"` // pending, approved, denied, expired, void, executing
	RequestedAt Instant         `json:"requestedAt"`
	ExpiresAt   Instant         `json:"expiresAt"` // then it is denied
	DecidedAt   Instant         `json:"decidedAt,omitempty"`
	By          string          `json:"by,omitempty"`
	Reason      string          `json:"reason,omitempty"`
}

// Approvals is the answer of GET /agent/sessions/{sessionId}/approvals, the oldest first.
type Approvals struct {
	Approvals []Approval `json:"approvals"`
}
