package model

import (
	"fmt"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Check refuses what the model service would refuse, before it is sent: fault.Invalid, and the text names the place of
// the first thing that is wrong, as in "messages[3].content[1].toolUse.input: is not a JSON object".
//
// The rules. Messages: at least one; the first and the last from the user, roles alternating; content never empty, no
// block of an unknown kind, no blank text. Calls: only from the assistant, ids and names of valid characters, ids
// unique, input a JSON object. Results: only from the user, before other blocks, exactly one in the next message for
// each call and none else, content not empty, JSON parts objects. Reasoning: only from the assistant, signed or
// redacted, never the last block. Cache points: at most MaxCachePoints, after something that can be cached, never
// after reasoning. Tools: unique valid names, schemas as PlainSchema makes them, some offered while messages hold
// calls or results. Settings: no blank system text, MaxTokens not negative, Temperature from 0 to 1, a forced tool
// that is offered.
func Check(r Request) error {
	c := checker{calls: make(map[string]bool)}
	c.settings(r)
	c.tools(r.Tools)
	c.messages(r.Messages)
	if c.toolBlocks && len(r.Tools) == 0 {
		c.fail(word("tools"), "must not be empty while messages hold tool calls or results")
	}
	if c.err != nil {
		return c.err
	}
	return nil
}

// checker keeps the first fault it finds.
type checker struct {
	err        *fault.Error
	calls      map[string]bool // ids of all calls so far
	toolBlocks bool
	points     int
}

func (c *checker) fail(path place, format string, args ...any) {
	if c.err == nil {
		c.err = fault.New(fault.Invalid, "%s: %s", path.String(), fmt.Sprintf(format, args...))
	}
}

// want fails unless ok.
func (c *checker) want(ok bool, path place, format string, args ...any) {
	if !ok {
		c.fail(path, format, args...)
	}
}

func (c *checker) settings(r Request) {
	c.want(r.System == "" || !blank(r.System), word("system"), "is blank")
	c.want(r.MaxTokens >= 0, word("maxTokens"), "is %d, must be positive, or 0 for the model's default", r.MaxTokens)
	if r.Temperature != nil {
		c.want(*r.Temperature >= 0 && *r.Temperature <= 1, word("temperature"), "is %v, must be from 0 to 1", *r.Temperature)
	}
	c.choice(r.ToolChoice, r.Tools)
}

func (c *checker) name(path place, name string) {
	c.want(allowed(name, MaxToolName, nameRune), path, "%q is not 1 to %d letters, digits, _ and -", name, MaxToolName)
}

func (c *checker) choice(choice ToolChoice, tools []ToolSpec) {
	if choice.Any {
		c.want(choice.Name == "", word("toolChoice"), "asks for any tool and for %q", choice.Name)
		c.want(len(tools) > 0, word("toolChoice"), "asks for a tool and none is offered")
	}
	if choice.Name == "" {
		return
	}
	for _, t := range tools {
		if t.Name == choice.Name {
			return
		}
	}
	c.fail(word("toolChoice.name"), "%q is not among the tools", choice.Name)
}

func (c *checker) tools(tools []ToolSpec) {
	seen := make(map[string]bool, len(tools))
	for i, t := range tools {
		path := word(fmt.Sprintf("tools[%d]", i))
		c.name(path.of("name"), t.Name)
		c.want(!seen[t.Name], path.of("name"), "%q is the name of an earlier tool", t.Name)
		c.want(t.Description == "" || !blank(t.Description), path.of("description"), "is blank")
		problem := schemaFault(t.Schema)
		c.want(problem == "", path.of("schema"), "%s", problem)
		seen[t.Name] = true
	}
}
