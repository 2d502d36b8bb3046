package snapshot

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Place is a block of a message: messages[Message].Content[Block].
type Place struct{ Message, Block int }

// Keeper says which blocks of a history are never left out, bytes being what the history may take; bytes 0: which are never cut.
// A call and its result stay together if it names one of them.
type Keeper func(messages []model.Message, bytes int) []Place

// Compaction is a history about to be made shorter.
type Compaction struct {
	Dropped []model.Message // what is left out, oldest first: material for a summary (see Transcript); may be empty
	pinned  []model.Message // what stays of it
	tail    []model.Message
	bytes   int
	keep    Keeper
}

// What stands for the messages that are left out.
const (
	summaryOpens  = "<summary_of_earlier_messages>\n"
	summaryCloses = "\n</summary_of_earlier_messages>"
)

// maxShrunk is what stays of each text of a tool's result that does not fit, in bytes.
const maxShrunk = 2 * 1024

// Compact plans to bring a history that is over so many bytes, as Size counts them, under about half of that. Not worth doing,
// false, is what would gain less than an eighth of bytes. Of the oldest messages stay: what keep names (it may be nil), and the
// last question of the user with all that was said since, so that a long turn does not lose what it is about. A cut never falls
// between a call and its result. Where even the newest messages are too long, long results are cut in the middle.
//
// Calls without a result get an error result, as by Repair: do not compact while tools run. Pure and linear.
func Compact(messages []model.Message, bytes int, keep Keeper) (Compaction, bool) {
	size := Size(messages...)
	if bytes <= 0 || size <= bytes {
		return Compaction{}, false
	}
	messages, _ = model.Repair(messages)
	c := Compaction{tail: messages, bytes: bytes, keep: keep}
	pins := c.pins(messages)
	stay := 0
	for p := range pins {
		stay += blockSize(messages[p.Message].Content[p.Block])
	}
	limits := Limits{Bytes: max(bytes/2-min(stay, bytes/4), 1)}
	if at := limits.cut(messages, len(leftOut)); at > 0 {
		if dropped, pinned := part(messages[:at], pins); holdsWords(dropped) {
			c.Dropped, c.pinned, c.tail = dropped, pinned, messages[at:]
		}
	}
	return c, size-Size(c.With("")...) >= max(bytes/8, 1)
}

// holdsWords reports whether there is more in messages than what stands for others.
func holdsWords(messages []model.Message) bool {
	for _, m := range messages {
		for _, b := range m.Content {
			if !StandsIn(b) {
				return true
			}
		}
	}
	return false
}

// Shortened reports whether messages were left out of a history.
func Shortened(messages []model.Message) bool {
	return len(messages) > 0 && slices.ContainsFunc(messages[0].Content, StandsIn)
}

// StandsIn reports whether a block stands for messages that were left out: a summary, or a note. Nobody said it.
func StandsIn(b model.Block) bool {
	return strings.HasPrefix(b.Text, summaryOpens) || b.Text == leftOut
}

// With gives the shorter history: a sound one, in which summary stands for what was dropped. With an empty summary a note says that
// something was.
func (c Compaction) With(summary string) []model.Message {
	messages := c.tail
	if len(c.Dropped) > 0 {
		lead := leftOut
		if summary = strings.TrimSpace(summary); summary != "" {
			lead = summaryOpens + summary + summaryCloses
		}
		messages = append([]model.Message{model.Text(model.User, lead)}, c.pinned...)
		messages = append(messages, c.tail...)
	}
	messages, _ = model.Repair(messages)
	return c.shrink(messages)
}

// pins are the blocks that stay.
func (c Compaction) pins(messages []model.Message) map[Place]bool {
	pins := map[Place]bool{}
	if c.keep != nil {
		for _, p := range c.keep(messages, c.bytes) {
			pins[p] = true
		}
	}
	for i := lastQuestion(messages); i < len(messages); i++ {
		for j, b := range messages[i].Content {
			if messages[i].Role == model.User && b.ToolResult == nil && !StandsIn(b) {
				pins[Place{i, j}] = true
			}
		}
	}
	withPartners(messages, pins)
	return pins
}

// lastQuestion is the index of the last message in which the user speaks and no tool does.
func lastQuestion(messages []model.Message) int {
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role == model.User && len(messages[i].Results()) == 0 {
			return i
		}
	}
	return 0
}

// withPartners adds to each call its result and to each result its call.
func withPartners(messages []model.Message, pins map[Place]bool) {
	ids := map[string]bool{}
	for p := range pins {
		switch b := messages[p.Message].Content[p.Block]; {
		case b.ToolUse != nil:
			ids[b.ToolUse.ID] = true
		case b.ToolResult != nil:
			ids[b.ToolResult.ID] = true
		}
	}
	if len(ids) == 0 {
		return
	}
	for i, m := range messages {
		for j, b := range m.Content {
			if b.ToolUse != nil && ids[b.ToolUse.ID] || b.ToolResult != nil && ids[b.ToolResult.ID] {
				pins[Place{i, j}] = true
			}
		}
	}
}

// part takes messages apart into what goes and what stays.
func part(messages []model.Message, pins map[Place]bool) (goes, stays []model.Message) {
	for i, m := range messages {
		gone, stayed := model.Message{Role: m.Role}, model.Message{Role: m.Role}
		for j, b := range m.Content {
			if pins[Place{i, j}] {
				stayed.Content = append(stayed.Content, b)
			} else {
				gone.Content = append(gone.Content, b)
			}
		}
		if len(gone.Content) > 0 {
			goes = append(goes, gone)
		}
		if len(stayed.Content) > 0 {
			stays = append(stays, stayed)
		}
	}
	return goes, stays
}

// shrink cuts long results, the oldest first, until messages fit or there are no more.
func (c Compaction) shrink(messages []model.Message) []model.Message {
	over := Size(messages...) - c.bytes
	if over <= 0 {
		return messages
	}
	kept := map[Place]bool{}
	if c.keep != nil {
		for _, p := range c.keep(messages, 0) {
			kept[p] = true
		}
	}
	for i, m := range messages {
		content := append([]model.Block(nil), m.Content...)
		for j, b := range content {
			if over > 0 && b.ToolResult != nil && !kept[Place{i, j}] {
				short := shrunk(*b.ToolResult)
				over -= blockSize(b) - blockSize(model.Block{ToolResult: &short})
				content[j].ToolResult = &short
			}
		}
		messages[i].Content = content
	}
	return messages
}

// shrunk is a result with the middle of each long part left out.
func shrunk(r model.ToolResult) model.ToolResult {
	parts := make([]model.ResultPart, len(r.Content))
	for i, p := range r.Content {
		switch {
		case len(p.Raw) > maxShrunk:
			p = model.ResultPart{Text: "(a part was left out: the conversation is too long)"}
		case len(p.JSON) > maxShrunk:
			p = model.ResultPart{Text: middleOut(string(p.JSON), maxShrunk)}
		case p.JSON == nil && p.Raw == nil:
			p = model.ResultPart{Text: middleOut(p.Text, maxShrunk)}
		}
		parts[i] = p
	}
	r.Content = parts
	return r
}

// middleOut keeps the head and the tail of a text that is longer than about most bytes.
func middleOut(text string, most int) string {
	const note = " (...) "
	if len(text) <= most+len(note) {
		return text
	}
	head, tail := most*2/3, len(text)-most/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + note + text[tail:]
}
