package model

import "fmt"

func (c *checker) messages(messages []Message) {
	if len(messages) == 0 {
		c.fail("messages", "must not be empty")
		return
	}
	var open []ToolUse
	for i, m := range messages {
		path := fmt.Sprintf("messages[%d]", i)
		if want := []Role{User, Assistant}[i%2]; m.Role != want {
			c.fail(path+".role", "is %q, want %q: the first message is the user's and roles alternate", m.Role, want)
		}
		c.want(len(m.Content) > 0, path+".content", "must not be empty")
		c.answers(path, m, open)
		for j, b := range m.Content {
			c.block(fmt.Sprintf("%s.content[%d]", path, j), m, j, b)
		}
		open = m.Calls()
		if c.err != nil {
			return
		}
	}
	last := len(messages) - 1
	role := messages[last].Role
	c.want(role == User, fmt.Sprintf("messages[%d].role", last), "is %q: a request ends with the user", role)
}

// answers checks that m starts with one result for each open call and has no other.
func (c *checker) answers(path string, m Message, open []ToolUse) {
	waiting := make(map[string]bool, len(open))
	for _, u := range open {
		waiting[u.ID] = true
	}
	others := false
	for j, b := range m.Content {
		if b.ToolResult == nil {
			others = true
			continue
		}
		at, id := fmt.Sprintf("%s.content[%d].toolResult", path, j), b.ToolResult.ID
		c.want(!others, at, "stands after a block that is no result")
		c.want(waiting[id], at+".toolUseId", "%q answers no open call of the message before", id)
		delete(waiting, id)
	}
	for _, u := range open {
		c.want(!waiting[u.ID], path+".content", "has no result for the call %q", u.ID)
	}
}

// block checks one block, the nth of m.
func (c *checker) block(path string, m Message, n int, b Block) {
	if kinds := b.kinds(); kinds > 1 {
		c.fail(path, "holds %d kinds of content at once", kinds)
	}
	switch {
	case b.Raw != nil:
		c.fail(path, "is of a kind that cannot be sent")
	case b.ToolUse != nil:
		c.call(path+".toolUse", m.Role, *b.ToolUse)
	case b.ToolResult != nil:
		c.result(path+".toolResult", m.Role, *b.ToolResult)
	case b.Reasoning != nil:
		c.want(m.Role == Assistant, path+".reasoning", "is not from the assistant")
		c.want(sendable(b.Reasoning), path+".reasoning", "is neither signed nor redacted, or both")
		c.want(n < len(m.Content)-1, path+".reasoning", "is the last block of its message")
	case b.CachePoint:
		c.cachePoint(path+".cachePoint", m.Content[:n])
	default:
		c.want(!blank(b.Text), path+".text", "is blank")
	}
}

// kinds counts the kinds of content that are set.
func (b Block) kinds() int {
	n := 0
	for _, set := range []bool{
		b.Text != "", b.ToolUse != nil, b.ToolResult != nil, b.Reasoning != nil, b.CachePoint, b.Raw != nil,
	} {
		if set {
			n++
		}
	}
	return n
}

func (c *checker) call(path string, role Role, u ToolUse) {
	c.toolBlocks = true
	c.want(role == Assistant, path, "is not from the assistant")
	valid := allowed(u.ID, MaxCallID, idRune)
	c.want(valid, path+".toolUseId", "%q is not 1 to %d letters, digits and _.:-", u.ID, MaxCallID)
	c.want(!c.calls[u.ID], path+".toolUseId", "%q is the id of an earlier call", u.ID)
	c.name(path+".name", u.Name)
	c.want(isObject(u.Input), path+".input", "is not a JSON object")
	c.calls[u.ID] = true
}

func (c *checker) result(path string, role Role, r ToolResult) {
	c.toolBlocks = true
	c.want(role == User, path, "is not from the user")
	c.want(r.Status == Success || r.Status == Failure, path+".status", "is %q, want %q or %q", r.Status, Success, Failure)
	c.want(len(r.Content) > 0, path+".content", "must not be empty")
	for i, p := range r.Content {
		at := fmt.Sprintf("%s.content[%d]", path, i)
		switch {
		case p.Raw != nil:
			c.fail(at, "is of a kind that cannot be sent")
		case p.JSON != nil:
			c.want(p.Text == "", at, "holds text and JSON at once")
			c.want(isObject(p.JSON), at+".json", "is not a JSON object")
		default:
			c.want(!blank(p.Text), at+".text", "is blank")
		}
	}
}

// cachePoint checks a cache point that stands after before.
func (c *checker) cachePoint(path string, before []Block) {
	c.points++
	c.want(c.points <= MaxCachePoints, path, "is one more than %d", MaxCachePoints)
	if len(before) == 0 {
		c.fail(path, "is the first block of its message")
		return
	}
	last := before[len(before)-1]
	c.want(last.Reasoning == nil, path, "stands after reasoning")
	c.want(!last.CachePoint, path, "stands after another")
}
