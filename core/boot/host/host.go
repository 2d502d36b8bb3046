// Package host opens what only the heavy functions need beside boot's edges: the model, and the content that the user of the
// bundle wrote in agent/.
package host

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/live"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/core/upload"
)

// Content is what the folder agent/ gives.
type Content struct {
	Instructions string // the system prompt of sessions that bring none
	Tools        tool.Registry
	Workspace    fs.FS                         // files that every session finds in its own until it writes over them; nil: none
	SkillFolders []skill.Root                  // where its skills lie
	Skills       []skill.Skill                 // written in Go; they win over files of the same name
	Servers      map[string]contract.MCPServer // of the program itself, by label, for handlers of schedules; sessions name their own
	Prices       []byte                        // what models cost, as money.Parse reads it; before the prices that are built in
}

// SkillSet gives the content's skills, and what is wrong with them. A broken skill is a finding, never an error.
func (c Content) SkillSet() (skill.Set, []skill.Diagnostic) {
	var list []skill.Skill
	for _, s := range c.Skills {
		if s.Scope == "" {
			s.Scope = skill.Builtin
		}
		list = append(list, s)
	}
	files, found := skill.Finder{}.Find(c.SkillFolders...)
	set, more := skill.NewSet(append(list, files...)...)
	return set, append(found, more...)
}

// opened is the content as it was read, once: reading skills and prices takes a good part of a start.
type opened struct {
	skills skill.Set
	found  []skill.Diagnostic
	prices money.Prices
	err    error // everything that is wrong, as Validate gives it
}

func (c Content) open() (o opened) {
	var wrong error
	o.skills, o.found = c.SkillSet()
	o.prices, wrong = c.PriceList()
	tools := c.Tools
	if len(o.skills.ForModel()) > 0 {
		tools = append(slices.Clone(tools), o.skills.Tools(nil)...)
	}
	o.err = fault.Wrap(fault.Invalid, errors.Join(tools.Validate(), wrong), "agent")
	return o
}

// Validate reports everything that is wrong with the content. Faults: Invalid.
func (c Content) Validate() error { return c.open().err }

// PriceList gives the content's prices, and behind them the built-in ones. Faults: Invalid.
func (c Content) PriceList() (money.Prices, error) {
	if len(c.Prices) == 0 {
		return money.Default(), nil
	}
	own, err := money.Parse(c.Prices)
	return money.Default().With(own), err
}

// Model is the model of sessions that name none, and by name every other one that Bedrock has.
func Model(e boot.Edges) bedrock.Model {
	temperature := e.Temperature
	return bedrock.Model{
		Client: bedrockruntime.NewFromConfig(boot.Config("BEDROCK_RUNTIME", e.BedrockRegion)), ID: e.ModelID,
		MaxTokens: e.MaxTokens, Temperature: &temperature, Guardrail: bedrock.Guardrail{ID: e.GuardrailID, Version: e.GuardrailVersion}, Log: e.Log,
	}
}

// Metered is a model under the budgets of scopes, which knows what its answers cost. Unsound prices are left out: Validate tells.
func (c Content) Metered(e boot.Edges, m bedrock.Model, scopes ...string) loop.Meter {
	prices, _ := c.PriceList()
	return metered(e, m, prices, scopes...)
}

func metered(e boot.Edges, m bedrock.Model, prices money.Prices, scopes ...string) loop.Meter {
	return loop.Meter{
		Model: m, ID: cmp.Or(m.ID, bedrock.DefaultModelID), MaxTokens: m.MaxTokens, Prices: prices, Ledger: e.Table, Scopes: scopes, NewID: e.NewID, Recent: &loop.BudgetCache{},
	}
}

// MustEngine runs turns with the content. Unsound content ends the process with one log line.
func MustEngine(e boot.Edges, c Content) *turn.Engine {
	o := c.open()
	if o.err != nil {
		e.Log.Error(o.err.Error())
		os.Exit(1)
	}
	return engine(e, c, o)
}

// Engine is MustEngine for content that is known to be sound.
func Engine(e boot.Edges, c Content) *turn.Engine { return engine(e, c, c.open()) }

func engine(e boot.Edges, c Content, o opened) *turn.Engine {
	for _, d := range o.found {
		if d.Severity != skill.Note && e.Log != nil {
			e.Log.Warn("skill: "+d.String(), "code", string(d.Code))
		}
	}
	asked := Model(e)
	return &turn.Engine{
		Edges: e.Edges, Model: metered(e, asked, o.prices, money.Stack), Memories: memories(e), Compaction: compaction(e, asked),
		Tools: c.Tools, Workspace: c.Workspace, Servers: servers(e), Instructions: c.Instructions, Sockets: live.Sockets(e), Strands: e.Strands,
		Skills:     turn.Skills{Set: o.skills, Found: o.found, Uploads: &upload.Sessions{Edges: e.Edges}},
		Remembered: &turn.Memory{}, Capacity: turn.Capacity{Stack: e.MaxTurns, Principal: e.MaxTurnsOfOne},
		Approvals: time.Duration(e.ApprovalHours) * time.Hour,
	}
}

// OwnServers are the program's own MCP servers, connected when they are asked.
func (c Content) OwnServers(e boot.Edges) mcp.Own {
	return mcp.Own{Warm: servers(e), Servers: c.Servers}
}

// servers connects to the MCP servers of sessions, and keeps them connected for their next turns.
func servers(e boot.Edges) *mcp.Warm {
	return &mcp.Warm{Dialer: mcp.Dialer{AllowedHosts: slices.Concat(contract.MCPHosts{}, e.MCPAllowedHosts), Log: e.Log}}
}

// compaction keeps histories within what the model takes, or within what the environment says that it does.
func compaction(e boot.Edges, m bedrock.Model) turn.Compaction {
	c := turn.Compaction{Window: m.Window, Answer: e.MaxTokens, Drop: e.Compaction == "drop"}
	if e.ContextTokens > 0 {
		c.Window = func(string) int { return e.ContextTokens }
	}
	return c
}
