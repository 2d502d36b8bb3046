package mcp

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// variable is ${NAME} or ${env:NAME}.
var variable = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}`)

// resolve gives the headers of a spec with the host's variables in them. Only names that begin with MCP_ are variables: a session
// is its user's, and the host's environment holds its credentials. Any other ${...} stays as it is written. Faults: Invalid (a
// variable that is not set, or whose value no header can carry).
func resolve(spec contract.MCPServer, lookup func(string) (string, bool)) (http.Header, error) {
	headers := make(http.Header, len(spec.Headers))
	for name, value := range spec.Headers {
		var missing string
		resolved := variable.ReplaceAllStringFunc(value, func(match string) string {
			key := variable.FindStringSubmatch(match)[1]
			if !strings.HasPrefix(key, "MCP_") {
				return match
			}
			v, ok := lookup(key)
			if !ok {
				missing = key
			}
			return strings.TrimSpace(v)
		})
		if missing != "" {
			return nil, fault.New(fault.Invalid, "its header %s names the variable %s, which the host does not have", name, missing)
		}
		if strings.ContainsAny(resolved, "\r\n\x00") {
			return nil, fault.New(fault.Invalid, "its header %s is no text on one line", name)
		}
		headers.Set(name, resolved)
	}
	return headers, nil
}
