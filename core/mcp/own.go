package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Own calls tools of a program's own servers where no model asks, as handlers of schedules do. It is safe for concurrent use.
type Own struct {
	Warm    *Warm
	Servers map[string]contract.MCPServer // by label
}

// Call calls a tool by the server's own name for it. The answer is its text as a JSON string, its structured form where it has no
// text, or the list of its texts where it has several. It is not idempotent. Faults: NotFound (no such server, no such tool), Invalid (the
// input, or what the tool itself calls an error), Unavailable.
func (o Own) Call(ctx context.Context, server, name string, input any) (json.RawMessage, error) {
	spec, ok := o.Servers[server]
	if !ok || spec.Disabled {
		return nil, fault.New(fault.NotFound, "there is no MCP server %q here", tool.Cut(server, 80))
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "input of %s.%s", server, name)
	}
	spec.ContinueOnError = false // there is nothing to go on with
	tools, _, giveBack, err := o.Warm.Lend(ctx, server, map[string]contract.MCPServer{server: spec})
	if err != nil {
		return nil, err
	}
	defer giveBack()
	found, _ := tool.Registry(tools).Pick(Name(server, name))
	if len(found) == 0 {
		return nil, fault.New(fault.NotFound, "the MCP server %s has no tool %q", server, tool.Cut(name, 80))
	}
	output, err := found[0].Call(tool.Context{Context: ctx}, raw)
	if err != nil {
		return nil, err
	}
	return answerOf(output)
}

// answerOf is the JSON of what a tool of a server gave.
func answerOf(output any) (json.RawMessage, error) {
	parts, _ := output.([]model.ResultPart)
	if len(parts) == 1 && parts[0].JSON != nil {
		return parts[0].JSON, nil
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	var answer any = texts
	if len(texts) < 2 {
		answer = strings.Join(texts, "")
	}
	raw, err := json.Marshal(answer)
	return raw, fault.Wrap(fault.Internal, err, "answer of an MCP server")
}
