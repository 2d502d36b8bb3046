package agent

import "github.com/steadfast-agents/steadfast/core/contract"

// Servers are MCP servers of the program itself, by label: a handler of a schedule calls their tools as "label.tool", without a model.
// Add yours here, say
//
//	"units": {URL: "https://units.example.com/mcp", Headers: map[string]string{"authorization": "Bearer ${MCP_UNITS_TOKEN}"}},
//
// and their hosts to McpAllowedHosts. Sessions do not get them: they name their own.
func Servers() map[string]contract.MCPServer { return nil }
