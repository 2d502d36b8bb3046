package model

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Collector puts the events of one streamed reply together. The zero value is ready; one Collector serves one attempt
// and one goroutine.
type Collector struct {
	blocks map[int]*piece
	stop   *StopReason
	usage  Usage
}

// piece is a block that is still arriving.
type piece struct {
	text      strings.Builder
	call      *ToolUse
	input     strings.Builder
	reasoning strings.Builder
	signature strings.Builder
	redacted  []byte
}

// Add takes the next event. Content after Stop, and an event it does not know, is ignored.
func (c *Collector) Add(e Event) {
	if u, ok := e.(UsageReport); ok {
		c.usage = u.Usage
	}
	if c.stop != nil {
		return
	}
	switch e := e.(type) {
	case TextDelta:
		c.at(e.Block).text.WriteString(e.Text)
	case ReasoningDelta:
		p := c.at(e.Block)
		p.reasoning.WriteString(e.Text)
		p.signature.WriteString(e.Signature)
		p.redacted = append(p.redacted, e.Redacted...)
	case ToolStart:
		c.at(e.Block).call = &ToolUse{ID: e.ID, Name: e.Name}
	case ToolInput:
		c.at(e.Block).input.WriteString(e.JSON)
	case Stop:
		c.stop = &e.Reason
	}
}

func (c *Collector) at(block int) *piece {
	if c.blocks == nil {
		c.blocks = make(map[int]*piece)
	}
	p := c.blocks[block]
	if p == nil {
		p = new(piece)
		c.blocks[block] = p
	}
	return p
}

// Reply gives what has been collected; it may be asked at any time and changes nothing. Blocks come in the order of
// their numbers, text as it came, a call without input gets {}. Which calls
// count as whole depends on the stop reason:
//
//   - tool_use or end_turn: every call is whole. One whose input is not JSON fails the attempt, for it cannot be run or
//     stored.
//   - anything else, as max_tokens: a call whose input is not JSON was cut and is left out, as is a last call that has
//     no input yet. Whole calls before it and all text stay.
//
// Faults: Unavailable with reason "stream_cut" when there was no Stop, with reason "malformed_call" as above; the
// reply that comes with them is what had arrived, for the log only.
func (c *Collector) Reply() (Reply, error) {
	reply := Reply{Message: Message{Role: Assistant}, Usage: c.usage}
	whole := false
	if c.stop != nil {
		reply.Stop = *c.stop
		whole = reply.Stop == EndTurn || reply.Stop == StopToolUse
	}
	numbers := slices.Sorted(maps.Keys(c.blocks))
	var broken string
	for i, n := range numbers {
		blocks, ok := c.blocks[n].finish(n, !whole && i == len(numbers)-1)
		if !ok && whole {
			broken = c.blocks[n].call.Name
		}
		reply.Message.Content = append(reply.Message.Content, blocks...)
	}
	switch {
	case c.stop == nil:
		return reply, fault.New(fault.Unavailable, "the model's answer was cut off").Because("stream_cut")
	case broken != "":
		err := fault.New(fault.Unavailable, "the model's call of %q has input that is no JSON", broken)
		return reply, err.Because("malformed_call")
	}
	return reply, nil
}

// finish gives the blocks that p has become; false when it is a call that is not whole. cut says that the reply ended
// in p before its time.
func (p *piece) finish(n int, cut bool) ([]Block, bool) {
	var blocks []Block
	if p.reasoning.Len() > 0 || p.signature.Len() > 0 || len(p.redacted) > 0 {
		r := &Reasoning{Text: p.reasoning.String(), Signature: p.signature.String(), Redacted: slices.Clone(p.redacted)}
		blocks = append(blocks, Block{Reasoning: r})
	}
	if p.text.Len() > 0 {
		blocks = append(blocks, Block{Text: p.text.String()})
	}
	if p.call == nil {
		return blocks, true
	}
	use := *p.call
	if use.ID == "" {
		use.ID = "call_" + strconv.Itoa(n)
	}
	input := p.input.String()
	empty := strings.TrimSpace(input) == ""
	if cut && empty || !empty && !json.Valid([]byte(input)) {
		return blocks, false
	}
	use.Input = object(json.RawMessage(input))
	return append(blocks, Block{ToolUse: &use}), true
}

// Collect reads events to their end and gives the whole reply. The first error of the stream ends it and is returned
// as it is; other faults are those of Collector.Reply.
func Collect(events iter.Seq2[Event, error]) (Reply, error) {
	var c Collector
	for e, err := range events {
		if err != nil {
			return Reply{}, err
		}
		c.Add(e)
	}
	return c.Reply()
}
