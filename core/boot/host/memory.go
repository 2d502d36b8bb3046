package host

import (
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/memory"
)

// memories opens what is kept of users across conversations, where the environment asks for it; nil: nothing is.
func memories(e boot.Edges) func(owner contract.Principal, sessionID string) loop.Memory {
	switch {
	case e.MemoryID != "":
		client := memory.NewClient(boot.Config("BEDROCK_AGENTCORE", e.Region))
		return func(owner contract.Principal, sessionID string) loop.Memory {
			return memory.AgentCore{Client: client, MemoryID: e.MemoryID, Actor: owner.ID, SessionID: sessionID, Now: e.Now}
		}
	case e.Memory == "table":
		return func(owner contract.Principal, sessionID string) loop.Memory {
			return memory.Table{Rows: e.Table, Owner: owner, SessionID: sessionID}
		}
	}
	return nil
}
