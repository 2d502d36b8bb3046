package model

import "slices"

// pairs walks alternating messages and makes each call have one result in the next message.
type pairs struct {
	used     map[string]int  // ids given to calls so far, and how often each original id came
	answered map[string]bool // original ids of calls that have had their result
}

// call is a tool call on its way to its result: the id it came with and the one it goes on with.
type call struct{ was, is string }

// pair gives every call a valid unique id and one result, at the start of the next message and in the order of the
// calls. It changes the content of messages, which roles must alternate in, and may add one message at the end.
func pair(messages []Message) []Message {
	p := pairs{used: make(map[string]int), answered: make(map[string]bool)}
	var open []call
	for i := range messages {
		if messages[i].Role == Assistant {
			open = p.number(messages[i].Content)
			continue
		}
		messages[i].Content = p.answer(messages[i].Content, open)
		open = nil
	}
	if len(open) > 0 {
		messages = append(messages, Message{Role: User, Content: p.answer(nil, open)})
	}
	return messages
}

// number gives the calls in content their ids.
func (p pairs) number(content []Block) []call {
	var open []call
	for i, b := range content {
		if b.ToolUse == nil {
			continue
		}
		c := call{was: b.ToolUse.ID, is: p.free(b.ToolUse.ID)}
		open = append(open, c)
		if c.is != c.was {
			use := *b.ToolUse
			use.ID = c.is
			content[i].ToolUse = &use
		}
	}
	return open
}

// free gives id, or one made from it if the service refuses it or an earlier call has it.
func (p pairs) free(id string) string {
	is := CallID(id)
	for n := p.used[is] + 1; p.used[is] > 0; n++ {
		next := nthID(is, n)
		if p.used[next] == 0 {
			p.used[is]++
			is = next
		}
	}
	p.used[is]++
	return is
}

// answer puts the results of the open calls before the other blocks. A second result is dropped; one of no call
// becomes text.
func (p pairs) answer(content []Block, open []call) []Block {
	if len(open) == 0 && !slices.ContainsFunc(content, isResult) {
		return content
	}
	results := make([]*ToolResult, len(open))
	waiting := make(map[string][]int, len(open)) // original id -> calls, in order
	for i, c := range open {
		waiting[c.was] = append(waiting[c.was], i)
	}
	answered := make(map[string]bool)
	rest := make([]Block, 0, len(content))
	for _, b := range content {
		switch {
		case b.ToolResult == nil:
			rest = append(rest, b)
		case len(waiting[b.ToolResult.ID]) > 0:
			id := b.ToolResult.ID
			results[waiting[id][0]] = b.ToolResult
			waiting[id] = waiting[id][1:]
			answered[id] = true
		case !answered[b.ToolResult.ID] && !p.answered[b.ToolResult.ID]:
			rest = append(rest, Block{Text: resultText(*b.ToolResult)})
		}
	}
	for id := range answered {
		p.answered[id] = true
	}
	return append(answers(open, results), rest...)
}

func isResult(b Block) bool { return b.ToolResult != nil }

// answers makes the blocks of the results, an error result where there is none.
func answers(open []call, results []*ToolResult) []Block {
	blocks := make([]Block, len(open))
	for i, c := range open {
		result := results[i]
		switch {
		case result == nil:
			missing := Interrupted(c.is)
			result = &missing
		case result.ID != c.is:
			renamed := *result
			renamed.ID = c.is
			result = &renamed
		}
		blocks[i].ToolResult = result
	}
	return blocks
}
