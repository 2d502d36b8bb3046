package mcp

import (
	"context"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// maxSaid bounds what of a server's error message reaches the model, in bytes.
const maxSaid = 2048

// failure is why a call came to nothing, in words from which the model can decide what to do. Faults: Invalid (the server refused
// the call), Unavailable (anything else; the call may have been worked on).
func (l *link) failure(ctx context.Context, err error, n *notes) error {
	var said *jsonrpc.Error
	switch status := n.status.Load(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case n.tooLarge.Load():
		return fault.New(fault.Invalid, "the answer of the MCP server %s is larger than %d bytes and was not read; ask for less", l.label, l.max)
	case n.lost.Load():
		return fault.New(fault.Unavailable, "the MCP server %s has lost the session again; the call was not run", l.label)
	case n.elsewhere.Load():
		return fault.New(fault.Unavailable, "the MCP server %s points to another host; the call was not run", l.label)
	case status == 0:
		return fault.New(fault.Unavailable, "the MCP server %s could not be reached; whether the call was run is not known", l.label)
	case status == http.StatusTooManyRequests || status >= 500: // before the SDK's own error, which says nothing
		return fault.New(fault.Unavailable, "the MCP server %s answered with status %d; whether the call was run is not known", l.label, status)
	case errors.As(err, &said) && said.Code == jsonrpc.CodeInternalError:
		return fault.New(fault.Unavailable, "the MCP server %s failed: %s", l.label, tool.Cut(said.Message, maxSaid))
	case errors.As(err, &said):
		return fault.New(fault.Invalid, "the MCP server %s refused the call: %s", l.label, tool.Cut(said.Message, maxSaid))
	case status >= 400:
		return fault.New(fault.Invalid, "the MCP server %s refused the call with status %d", l.label, status)
	}
	return fault.New(fault.Unavailable, "the MCP server %s gave no usable answer; whether the call was run is not known", l.label)
}
