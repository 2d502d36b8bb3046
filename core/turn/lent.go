package turn

import (
	"context"
	"slices"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Servers lends the tools of a session's external servers for the time of one turn. It must be safe for concurrent use, but is
// asked for one session by one turn at a time. Lend may take its time: the lease is kept meanwhile, and ctx ends when the turn has
// to. It gives the tools, whose names must be the same in every turn; what the model has to know about those that are not there,
// in words that no server wrote; and giveBack, which is called exactly once, after the turn. An error fails the turn with its
// public text.
type Servers interface {
	Lend(ctx context.Context, sessionID string, specs map[string]contract.MCPServer) (tools []tool.Tool, note string, giveBack func(), err error)
}

// lend adds the tools of the servers that the turn's configuration names. The host's own tools come first: of two with one name
// theirs counts.
func (o *owner) lend(ctx context.Context, s *setup) (giveBack func(), err error) {
	nothing := func() {}
	if len(s.servers) == 0 {
		return nothing, nil
	}
	if o.Servers == nil {
		o.log.WarnContext(ctx, "the session names MCP servers, and nothing here connects to any", "servers", len(s.servers))
		return nothing, nil
	}
	tools, note, giveBack, err := o.Servers.Lend(ctx, o.id, s.servers)
	if err != nil {
		return nothing, err
	}
	s.tools = slices.Concat(s.tools, tools)
	if note != "" {
		s.request.System += "\n\n" + note
	}
	return giveBack, nil
}
