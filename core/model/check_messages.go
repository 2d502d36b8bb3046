package model

import (
	"fmt"
	"strings"
)

// place is where in a request something stands; the text of it is made only when something is wrong. block and part count from
// 1, 0: none.
type place struct {
	message, block, part int
	word                 string // stands for all but field
	kind, field          string
}

func word(w string) place { return place{word: w} }

func (p place) in(kind string) place  { p.kind = kind; return p }
func (p place) of(field string) place { p.field = field; return p }

// String is the place in words, as in "messages[3].content[1].toolUse.input".
func (p place) String() string {
	var b strings.Builder
	if b.WriteString(p.word); p.word == "" {
		fmt.Fprintf(&b, "messages[%d]", p.message)
	}
	if p.block > 0 {
		fmt.Fprintf(&b, ".content[%d]", p.block-1)
	}
	if p.kind != "" {
		b.WriteString("." + p.kind)
	}
	if p.part > 0 {
		fmt.Fprintf(&b, ".content[%d]", p.part-1)
	}
	if p.field != "" {
		b.WriteString("." + p.field)
	}
	return b.String()
}

func (c *checker) messages(messages []Message) {
	if len(messages) == 0 {
		c.fail(word("messages"), "must not be empty")
		return
	}
	var open []ToolUse
	for i, m := range messages {
		path := place{message: i}
		if want := []Role{User, Assistant}[i%2]; m.Role != want {
			c.fail(path.of("role"), "is %q, want %q: the first message is the user's and roles alternate", m.Role, want)
		}
		c.want(len(m.Content) > 0, path.of("content"), "must not be empty")
		c.answers(path, m, open)
		for j, b := range m.Content {
			c.block(place{message: i, block: j + 1}, m, j, b)
		}
		open = m.Calls()
		if c.err != nil {
			return
		}
	}
	last := len(messages) - 1
	role := messages[last].Role
	c.want(role == User, place{message: last}.of("role"), "is %q: a request ends with the user", role)
}

// answers checks that m starts with one result for each open call and has no other.
func (c *checker) answers(path place, m Message, open []ToolUse) {
	var waiting map[string]bool
	if len(open) > 0 {
		waiting = make(map[string]bool, len(open))
	}
	for _, u := range open {
		waiting[u.ID] = true
	}
	others := false
	for j, b := range m.Content {
		if b.ToolResult == nil {
			others = true
			continue
		}
		at, id := place{message: path.message, block: j + 1}.in("toolResult"), b.ToolResult.ID
		c.want(!others, at, "stands after a block that is no result")
		c.want(waiting[id], at.of("toolUseId"), "%q answers no open call of the message before", id)
		delete(waiting, id)
	}
	for _, u := range open {
		c.want(!waiting[u.ID], path.of("content"), "has no result for the call %q", u.ID)
	}
}

// block checks one block, the nth of m.
func (c *checker) block(path place, m Message, n int, b Block) {
	if kinds := b.kinds(); kinds > 1 {
		c.fail(path, "holds %d kinds of content at once", kinds)
	}
	switch {
	case b.Raw != nil:
		c.fail(path, "is of a kind that cannot be sent")
	case b.ToolUse != nil:
		c.call(path.in("toolUse"), m.Role, *b.ToolUse)
	case b.ToolResult != nil:
		c.result(path.in("toolResult"), m.Role, *b.ToolResult)
	case b.Reasoning != nil:
		c.want(m.Role == Assistant, path.in("reasoning"), "is not from the assistant")
		c.want(sendable(b.Reasoning), path.in("reasoning"), "is neither signed nor redacted, or both")
		c.want(n < len(m.Content)-1, path.in("reasoning"), "is the last block of its message")
	case b.CachePoint:
		c.cachePoint(path.in("cachePoint"), m.Content[:n])
	default:
		c.want(!blank(b.Text), path.of("text"), "is blank")
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

func (c *checker) call(path place, role Role, u ToolUse) {
	c.toolBlocks = true
	c.want(role == Assistant, path, "is not from the assistant")
	valid := allowed(u.ID, MaxCallID, idRune)
	c.want(valid, path.of("toolUseId"), "%q is not 1 to %d letters, digits and _.:-", u.ID, MaxCallID)
	c.want(!c.calls[u.ID], path.of("toolUseId"), "%q is the id of an earlier call", u.ID)
	c.name(path.of("name"), u.Name)
	c.want(isObject(u.Input), path.of("input"), "is not a JSON object")
	c.calls[u.ID] = true
}

func (c *checker) result(path place, role Role, r ToolResult) {
	c.toolBlocks = true
	c.want(role == User, path, "is not from the user")
	c.want(r.Status == Success || r.Status == Failure, path.of("status"), "is %q, want %q or %q", r.Status, Success, Failure)
	c.want(len(r.Content) > 0, path.of("content"), "must not be empty")
	for i, p := range r.Content {
		at := path
		at.part = i + 1
		switch {
		case p.Raw != nil:
			c.fail(at, "is of a kind that cannot be sent")
		case p.JSON != nil:
			c.want(p.Text == "", at, "holds text and JSON at once")
			c.want(isObject(p.JSON), at.of("json"), "is not a JSON object")
		default:
			c.want(!blank(p.Text), at.of("text"), "is blank")
		}
	}
}

// cachePoint checks a cache point that stands after before.
func (c *checker) cachePoint(path place, before []Block) {
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
