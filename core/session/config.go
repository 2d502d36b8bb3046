package session

import (
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Config is what a session was created with. Zero fields mean the host's defaults. It is written once and lives 30 days.
type Config struct {
	SessionID    string                        `dynamodbav:"sessionId"`
	UserID       string                        `dynamodbav:"userId"` // the owner: only this verified user may use the session
	Title        string                        `dynamodbav:"title,omitempty"`
	SystemPrompt string                        `dynamodbav:"systemPrompt,omitempty"`
	ModelID      string                        `dynamodbav:"modelId,omitempty"`
	Temperature  *float64                      `dynamodbav:"temperature,omitempty"`
	MaxTokens    int                           `dynamodbav:"maxTokens,omitempty"`
	Tools        []string                      `dynamodbav:"tools,omitempty"` // nil: the host's; empty: none
	MCPServers   map[string]contract.MCPServer `dynamodbav:"mcpServers,omitempty"`
}

// CheckOwner refuses everybody but the owner. A session without an owner on record has no config; its state says whose it is.
// Faults: Denied.
func (c Config) CheckOwner(userID string) error {
	if c.UserID != userID {
		return fault.New(fault.Denied, "not your session")
	}
	return nil
}

// Validate reports the first field that breaks a rule. mcpHosts are the hosts that MCP servers may have; none allows none.
// Faults: Invalid.
func (c Config) Validate(mcpHosts contract.MCPHosts) error {
	if err := contract.CheckSessionID("sessionId", c.SessionID); err != nil {
		return err
	}
	if err := contract.CheckID("userId", c.UserID); err != nil {
		return err
	}
	switch {
	case len(c.Title) > contract.MaxTitleBytes:
		return fault.New(fault.Invalid, "title: %d bytes, the limit is %d", len(c.Title), contract.MaxTitleBytes)
	case len(c.SystemPrompt) > contract.MaxPromptBytes:
		return fault.New(fault.Invalid, "systemPrompt: %d bytes, the limit is %d", len(c.SystemPrompt), contract.MaxPromptBytes)
	case len(c.ModelID) > 2048:
		return fault.New(fault.Invalid, "modelId: %d bytes, the limit is 2048", len(c.ModelID))
	case c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 1):
		return fault.New(fault.Invalid, "temperature: must be from 0 to 1")
	case c.MaxTokens < 0 || c.MaxTokens > contract.MaxOutputTokens:
		return fault.New(fault.Invalid, "maxTokens: must be from 1 to %d", contract.MaxOutputTokens)
	case len(c.Tools) > contract.MaxToolNames:
		return fault.New(fault.Invalid, "tools: %d names, the limit is %d", len(c.Tools), contract.MaxToolNames)
	}
	return contract.CheckMCPServers(c.MCPServers, mcpHosts)
}
