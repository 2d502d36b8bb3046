package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Repair makes stored history sound and says whether it had to change anything that is worth saving. In a sound
// history the first message is from the user, roles alternate, no text is blank and no message empty, calls have valid
// unique ids, valid names and JSON objects as input, and each call has exactly one result at the start of the next
// message, in the order of the calls; a call nobody answered gets an error result (see Interrupted), a result of no
// call becomes text. What only requests must not have stays: blocks of unknown kinds, unsigned reasoning, cache
// points. Neighbours with one role are joined, and the results of a step are put in order, but that alone does not count as
// a change, for an append-only history has them by nature: some results come before others. The input is left as it is. Idempotent: a repaired history comes back equal and unchanged.
// Linear.
func Repair(messages []Message) (fixed []Message, changed bool) {
	plain := join(messages, keepBlock)
	fixed = fill(pair(join(messages, cleanForStoring)))
	return fixed, !slices.EqualFunc(plain, fixed, sameMessage)
}

// join copies messages, each block passed through clean, so that roles alternate. The content slices are new.
func join(messages []Message, clean func(Role, Block) (Block, bool)) []Message {
	joined := make([]Message, 0, len(messages)+2)
	for _, m := range messages {
		if m.Role != Assistant {
			m.Role = User
		}
		if n := len(joined); n > 0 && joined[n-1].Role == m.Role {
			joined[n-1].Extra = joinExtra(joined[n-1].Extra, m.Extra)
		} else {
			joined = append(joined, Message{Role: m.Role, Extra: m.Extra, Content: make([]Block, 0, len(m.Content))})
		}
		last := &joined[len(joined)-1]
		for _, b := range m.Content {
			if b, ok := clean(m.Role, b); ok {
				last.Content = append(last.Content, b)
			}
		}
	}
	return joined
}

// joinExtra keeps the fields of the first message and adds those only the second has.
func joinExtra(first, second map[string]json.RawMessage) map[string]json.RawMessage {
	missing := 0
	for k := range second {
		if _, ok := first[k]; !ok {
			missing++
		}
	}
	if missing == 0 {
		return first
	}
	all := maps.Clone(second)
	maps.Copy(all, first)
	return all
}

func keepBlock(_ Role, b Block) (Block, bool) { return b, true }

func cleanForStoring(role Role, b Block) (Block, bool) { return clean(role, b, true) }

func cleanForSending(role Role, b Block) (Block, bool) { return clean(role, b, false) }

// clean gives the block as the service takes it, or false for one it does not take at all. stored keeps what only a
// request must not have.
func clean(role Role, b Block, stored bool) (Block, bool) {
	switch {
	case b.Raw != nil:
		return Block{Raw: b.Raw}, stored && json.Valid(b.Raw)
	case b.ToolUse != nil:
		use := cleanCall(b.ToolUse)
		if role != Assistant {
			return Block{Text: callText(*use)}, true
		}
		return Block{ToolUse: use}, true
	case b.ToolResult != nil:
		result := cleanResult(b.ToolResult, stored)
		if role != User {
			return Block{Text: resultText(*result)}, true
		}
		return Block{ToolResult: result}, true
	case b.Reasoning != nil:
		return Block{Reasoning: b.Reasoning}, stored || role == Assistant && sendable(b.Reasoning)
	case b.CachePoint:
		return Block{CachePoint: true}, true
	}
	return b, !blank(b.Text)
}

// sendable reports whether reasoning may go back to the model: signed text, or redacted bytes alone.
func sendable(r *Reasoning) bool {
	if len(r.Redacted) > 0 {
		return r.Signature == "" && r.Text == ""
	}
	return r.Signature != ""
}

// cleanCall leaves the id to pair, which has to match results first.
func cleanCall(u *ToolUse) *ToolUse {
	name, input := ToolName(u.Name), object(u.Input)
	if name == u.Name && bytes.Equal(input, u.Input) {
		return u
	}
	return &ToolUse{ID: u.ID, Name: name, Input: input}
}

func cleanResult(r *ToolResult, stored bool) *ToolResult {
	c := &ToolResult{ID: r.ID, Status: cleanStatus(r.Status), Content: make([]ResultPart, 0, max(1, len(r.Content)))}
	for _, p := range r.Content {
		if p, ok := cleanPart(p, stored); ok {
			c.Content = append(c.Content, p)
		}
	}
	if len(c.Content) == 0 {
		c.Content = append(c.Content, ResultPart{Text: fillerResult})
	}
	return c
}

// cleanStatus takes a result without status for a success, and one with a status nobody knows for a failure.
func cleanStatus(s ToolStatus) ToolStatus {
	if s == "" || s == Success {
		return Success
	}
	return Failure
}

// cleanPart keeps text and JSON objects; other JSON becomes its text, a part of unknown kind a note (in a request).
func cleanPart(p ResultPart, stored bool) (ResultPart, bool) {
	switch {
	case p.Raw != nil && stored && json.Valid(p.Raw):
		return ResultPart{Raw: p.Raw}, true
	case p.Raw != nil:
		return ResultPart{Text: rawNote(p.Raw)}, true
	case p.JSON == nil:
		return p, !blank(p.Text)
	case isObject(p.JSON):
		return ResultPart{JSON: p.JSON}, true
	}
	text := string(p.JSON)
	var s string
	if json.Unmarshal(p.JSON, &s) == nil { // null leaves s empty
		text = s
	}
	return ResultPart{Text: text}, !blank(text)
}

// rawNote stands for a part of a kind that this version does not know.
func rawNote(raw json.RawMessage) string {
	kind := "unknown"
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil && len(fields) > 0 {
		kind = ToolName(slices.Min(slices.Collect(maps.Keys(fields))))
	}
	return "(a part that cannot be shown: " + kind + ")"
}

// fill gives every empty message a visible text and puts the user first.
func fill(messages []Message) []Message {
	for i := range messages {
		if len(messages[i].Content) == 0 {
			text := fillerUser
			if messages[i].Role == Assistant {
				text = fillerAssistant
			}
			messages[i].Content = []Block{{Text: text}}
		}
	}
	if len(messages) > 0 && messages[0].Role == Assistant {
		return slices.Insert(messages, 0, Text(User, fillerFirst))
	}
	return messages
}

// sameMessage reports whether a is b, but for the order of the results that it begins with.
func sameMessage(a, b Message) bool {
	return a.Role == b.Role && len(a.Content) == len(b.Content) &&
		(slices.EqualFunc(a.Content, b.Content, sameBlock) || slices.EqualFunc(ordered(a.Content, b.Content), b.Content, sameBlock))
}

// ordered is content with the results that it begins with in the order that like has them.
func ordered(content, like []Block) []Block {
	at := make(map[string]int, len(like))
	for i, b := range like {
		if b.ToolResult != nil {
			at[b.ToolResult.ID] = i
		}
	}
	results := slices.IndexFunc(content, func(b Block) bool { return b.ToolResult == nil })
	if results < 0 {
		results = len(content)
	}
	content = slices.Clone(content)
	slices.SortStableFunc(content[:results], func(a, b Block) int { return at[a.ToolResult.ID] - at[b.ToolResult.ID] })
	return content
}

func sameBlock(a, b Block) bool {
	return a.Text == b.Text && a.CachePoint == b.CachePoint && bytes.Equal(a.Raw, b.Raw) &&
		samePointer(a.ToolUse, b.ToolUse, sameCall) && samePointer(a.ToolResult, b.ToolResult, sameResult) &&
		a.Reasoning == b.Reasoning // reasoning is never rewritten
}

func samePointer[T any](a, b *T, same func(a, b T) bool) bool {
	return a == b || a != nil && b != nil && same(*a, *b)
}

func sameCall(a, b ToolUse) bool {
	return a.ID == b.ID && a.Name == b.Name && bytes.Equal(a.Input, b.Input)
}

func sameResult(a, b ToolResult) bool {
	return a.ID == b.ID && a.Status == b.Status && slices.EqualFunc(a.Content, b.Content, samePart)
}

func samePart(a, b ResultPart) bool {
	return a.Text == b.Text && bytes.Equal(a.JSON, b.JSON) && bytes.Equal(a.Raw, b.Raw)
}
