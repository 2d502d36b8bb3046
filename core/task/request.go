package task

import (
	"encoding/json"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Principal is who a task acts for.
type Principal = contract.Principal

// User is the principal of a verified user.
func User(sub string) Principal { return Principal{Type: contract.UserPrincipal, ID: sub} }

// System is the principal of a service.
func System(id string) Principal { return Principal{Type: contract.SystemPrincipal, ID: id} }

// Request is the detail of "Run Agent Task": what to do, for whom, with which overrides. Fields beside TaskID, Principal and
// Request are optional; the zero value of an override leaves the session's or the package's own.
type Request struct {
	TaskID       string                        `json:"taskId"`
	Principal    Principal                     `json:"principal"`
	Request      string                        `json:"request"`
	SessionID    string                        `json:"sessionId,omitempty"`
	SystemPrompt string                        `json:"systemPrompt,omitempty"`
	ModelID      string                        `json:"modelId,omitempty"`
	Temperature  *float64                      `json:"temperature,omitempty"`
	MaxTokens    int                           `json:"maxTokens,omitempty"`
	Tools        []string                      `json:"tools,omitzero"` // nil: the host's; empty: none
	MCPServers   map[string]contract.MCPServer `json:"mcpServers,omitempty"`
	Trigger      *Trigger                      `json:"trigger,omitempty"`
	CreatedBy    string                        `json:"createdBy,omitempty"`
	DeliveryID   string                        `json:"deliveryId,omitempty"`
	RootID       string                        `json:"rootId,omitempty"` // the task that began the chain
	Depth        int                           `json:"depth,omitempty"`  // how many tasks stand above this one
	NotBefore    contract.Instant              `json:"notBefore,omitempty"`

	Source string `json:"-"` // under which it is sent again and its end is told; empty: the stack's own
}

// Trigger says what woke a persistent agent.
type Trigger struct {
	Kind       string          `json:"kind"`
	AgentID    string          `json:"agentId,omitempty"`
	EventID    string          `json:"eventId"`
	DetailType string          `json:"detailType"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Urgent     bool            `json:"urgent,omitempty"`
}

// Delivery gives the id that makes a delivery of the request idempotent: its own, else the trigger's event, else the id of the
// envelope it came in.
func (r Request) Delivery(envelopeID string) string {
	switch {
	case r.DeliveryID != "":
		return r.DeliveryID
	case r.Trigger != nil && r.Trigger.EventID != "":
		return r.Trigger.EventID
	}
	return envelopeID
}

// Validate reports the first field that breaks a rule. maxDepth bounds chains of tasks that start one another.
func (r Request) Validate(maxDepth int) error {
	switch {
	case strings.TrimSpace(r.Request) == "":
		return fault.New(fault.Invalid, "request: must not be empty")
	case len(r.Request) > contract.MaxMessageBytes:
		return fault.New(fault.Invalid, "request: %d bytes, the limit is %d", len(r.Request), contract.MaxMessageBytes)
	case r.Principal.Type != contract.UserPrincipal && r.Principal.Type != contract.SystemPrincipal:
		return fault.New(fault.Invalid, `principal.type: must be "user" or "system"`)
	case r.MaxTokens < 0 || r.MaxTokens > contract.MaxOutputTokens:
		return fault.New(fault.Invalid, "maxTokens: must be from 1 to %d", contract.MaxOutputTokens)
	case r.Temperature != nil && !(*r.Temperature >= 0 && *r.Temperature <= 1):
		return fault.New(fault.Invalid, "temperature: must be from 0 to 1")
	case len(r.SystemPrompt) > contract.MaxPromptBytes:
		return fault.New(fault.Invalid, "systemPrompt: %d bytes, the limit is %d", len(r.SystemPrompt), contract.MaxPromptBytes)
	case len(r.Tools) > contract.MaxToolNames:
		return fault.New(fault.Invalid, "tools: %d names, the limit is %d", len(r.Tools), contract.MaxToolNames)
	case r.Depth < 0 || r.Depth > maxDepth:
		return fault.New(fault.Limit, "depth: %d tasks started one another, the limit is %d", r.Depth, maxDepth)
	}
	return r.validateIDs()
}

func (r Request) validateIDs() error {
	for _, id := range []struct{ field, value string }{{"taskId", r.TaskID}, {"principal.id", r.Principal.ID}} {
		if err := contract.CheckID(id.field, id.value); err != nil {
			return err
		}
	}
	for _, id := range []struct{ field, value string }{
		{"sessionId", r.SessionID}, {"deliveryId", r.DeliveryID}, {"createdBy", r.CreatedBy}, {"rootId", r.RootID}, {"modelId", r.ModelID},
	} {
		if id.value == "" {
			continue
		}
		if err := contract.CheckID(id.field, id.value); err != nil {
			return err
		}
	}
	return nil
}
