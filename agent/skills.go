package agent

import "github.com/steadfast-agents/steadfast/core/skill"

// Skills are those written in Go, beside the folder skills: text that is made when the program starts, for example
//
//	skill.Skill{Name: "regions", Description: "Use when somebody asks where we deliver.", Markdown: regions()}
func Skills() []skill.Skill { return nil }
