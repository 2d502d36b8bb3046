// Package agent is the agent's own content: who it is (instructions.md) and what it can do (tools.go). A user of the bundle
// edits this folder and nothing else to begin with.
package agent

import (
	_ "embed"
	"strings"

	"github.com/steadfast-agents/steadfast/core/boot/host"
)

//go:embed instructions.md
var instructions string

// Content is what the functions run with.
func Content() host.Content {
	return host.Content{Instructions: strings.TrimSpace(instructions), Tools: Tools()}
}
