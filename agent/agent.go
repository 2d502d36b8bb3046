// Package agent is the agent's own content: who it is (instructions.md), what it can do (tools.go), which procedures it
// knows (skills) and which files its sessions find (workspace). A user of the bundle edits this folder and nothing else to begin with.
package agent

import (
	"embed"
	"strings"

	"github.com/steadfast-agents/steadfast/agent/workspace"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/skill"
)

//go:embed instructions.md
var instructions string

// prices are what models cost, before the prices that are built in: {"model id": {"input": 1, "output": 5}}, in dollars for a million
// tokens.
//
//go:embed prices.json
var prices []byte

// files are the skills as they lie in the folder, also those whose names begin with a dot or an underscore.
//
//go:embed all:skills
var files embed.FS

// Content is what the functions run with.
func Content() host.Content {
	return host.Content{
		Instructions: strings.TrimSpace(instructions), Tools: Tools(), Workspace: workspace.Files(),
		SkillFolders: []skill.Root{{FS: files, Path: "skills", Name: "agent/skills", Flat: true}}, Skills: Skills(),
		Servers: Servers(), Prices: prices,
	}
}
