package openai

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// answer reads one stream. Text goes out as it comes; calls, whose pieces may be mixed, when all of it is there.
type answer struct {
	yield   func(bedrock.Part, error) bool
	request bedrock.Request
	left    bool // nobody listens any more
	calls   []*call
	reason  openai.FinishReason
	usage   *bedrock.Usage
}

// call is a tool call that is being gathered.
type call struct {
	index           int
	id, name, input string
}

// add takes one piece of the stream.
func (a *answer) add(c openai.ChatCompletionStreamResponse) {
	if c.Usage != nil {
		a.usage = tokens(*c.Usage)
	}
	for _, choice := range c.Choices {
		a.say(choice.Delta.Content)
		a.say(choice.Delta.Refusal)
		for _, piece := range choice.Delta.ToolCalls {
			a.gather(piece)
		}
		if choice.FinishReason != "" {
			a.reason = choice.FinishReason
		}
	}
}

// tokens is a usage in Bedrock's terms, where input does not count what was cached.
func tokens(u openai.Usage) *bedrock.Usage {
	cached := 0
	if u.PromptTokensDetails != nil {
		cached = u.PromptTokensDetails.CachedTokens
	}
	return &bedrock.Usage{Input: u.PromptTokens - cached, Output: u.CompletionTokens, CacheRead: cached}
}

func (a *answer) say(text string) {
	if text != "" {
		a.send(bedrock.Text(text))
	}
}

func (a *answer) send(p bedrock.Part) {
	if !a.left && !a.yield(p, nil) {
		a.left = true
	}
}

func (a *answer) fail(err error) {
	if !a.left {
		a.left = true
		a.yield(nil, err)
	}
}

// gather adds a piece to its call. Some servers give every call the same index, or none: then an id that is new begins one.
func (a *answer) gather(piece openai.ToolCall) {
	index := 0
	if piece.Index != nil {
		index = *piece.Index
	}
	c := a.open(index)
	if c == nil || piece.ID != "" && c.id != "" && piece.ID != c.id {
		c = &call{index: index}
		a.calls = append(a.calls, c)
	}
	if c.id == "" {
		c.id = piece.ID
	}
	c.name += piece.Function.Name
	c.input += piece.Function.Arguments
}

// open gives the newest call of an index, or nil.
func (a *answer) open(index int) *call {
	for _, c := range slices.Backward(a.calls) {
		if c.index == index {
			return c
		}
	}
	return nil
}

// finish sends what was gathered, and how it ended.
func (a *answer) finish() {
	stop, err := a.stop()
	if err != nil {
		a.fail(err)
		return
	}
	for i, c := range a.calls {
		a.send(bedrock.ToolCall{ID: a.callID(i, c.id), Name: c.name})
		if c.input != "" {
			a.send(bedrock.ToolInput(c.input))
		}
	}
	if a.usage != nil {
		a.send(*a.usage)
	}
	a.send(bedrock.Stop(stop))
}

// stop is Bedrock's name for how the answer ended.
func (a *answer) stop() (string, error) {
	switch a.reason {
	case openai.FinishReasonLength:
		return "max_tokens", nil
	case openai.FinishReasonContentFilter:
		return "content_filtered", nil
	case openai.FinishReasonStop, openai.FinishReasonToolCalls, openai.FinishReasonFunctionCall: // some servers say stop after calls
		if len(a.calls) > 0 {
			return "tool_use", nil
		}
		return "end_turn", nil
	case "":
		return "", &bedrock.Error{Type: "ModelStreamErrorException", Message: "The model's server ended the stream before the answer."}
	}
	return "", &bedrock.Error{Type: "ModelErrorException", Message: fmt.Sprintf("The model's server ended the answer with %q.", a.reason)}
}

// bedrockID is what Bedrock takes as the id of a call.
var bedrockID = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`)

// callID is the server's id of a call, or one made for it where there is none that Bedrock would take.
func (a *answer) callID(i int, id string) string {
	if bedrockID.MatchString(id) {
		return id
	}
	h := fnv.New64a()
	_, _ = h.Write(a.request.Body) // a hash never fails
	return fmt.Sprintf("call_%016x_%d", h.Sum64(), i)
}
