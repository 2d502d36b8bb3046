// Package model holds the words of a model call: messages and their blocks, requests, replies, the events of a stream,
// usage and stop reasons. Messages have one JSON form, the one the TypeScript package stores and Bedrock speaks
// ({"text"}, {"toolUse"}, {"toolResult"}, {"reasoning"}), so history is stored as it is sent. The package also builds
// and checks requests: what a model service would refuse is repaired or refused here. It calls nothing.
package model

import (
	"encoding/json"
	"math"
)

// Role says who speaks in a message.
type Role string

// The roles of a message.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of speech. Extra keeps fields that other writers put beside role and content.
type Message struct {
	Role    Role
	Content []Block
	Extra   map[string]json.RawMessage
}

// Text makes a message of one text block.
func Text(role Role, text string) Message {
	return Message{Role: role, Content: []Block{{Text: text}}}
}

// Calls gives the tool calls of the message, in order.
func (m Message) Calls() []ToolUse {
	var calls []ToolUse
	for _, b := range m.Content {
		if b.ToolUse != nil {
			calls = append(calls, *b.ToolUse)
		}
	}
	return calls
}

// Results gives the tool results of the message, in order.
func (m Message) Results() []ToolResult {
	var results []ToolResult
	for _, b := range m.Content {
		if b.ToolResult != nil {
			results = append(results, *b.ToolResult)
		}
	}
	return results
}

// PlainText joins the text blocks of the message.
func (m Message) PlainText() string {
	var text string
	for _, b := range m.Content {
		text += b.Text
	}
	return text
}

// Block is one part of a message: exactly one field is set; a block with none is an empty text. Raw holds a block of a kind
// this version does not know, byte for byte.
type Block struct {
	Text       string
	ToolUse    *ToolUse
	ToolResult *ToolResult
	Reasoning  *Reasoning
	CachePoint bool
	Raw        json.RawMessage
}

// ToolUse is a call the model asks for. Input is a JSON object.
type ToolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// ToolResult answers one call.
type ToolResult struct {
	ID      string       `json:"toolUseId"`
	Status  ToolStatus   `json:"status"`
	Content []ResultPart `json:"content"`
}

// ToolStatus says whether a tool call went well.
type ToolStatus string

// The statuses of a tool result.
const (
	Success ToolStatus = "success"
	Failure ToolStatus = "error"
)

// ResultPart is one part of a tool result: text, or JSON if that is set. Raw is a part of an unknown kind, byte for byte.
type ResultPart struct {
	Text string
	JSON json.RawMessage
	Raw  json.RawMessage
}

// Reasoning is a block of the model's own thinking. It goes back to the model unchanged, with its signature, or not at all.
type Reasoning struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  []byte `json:"redactedContent,omitempty"`
}

// StopReason says why the model stopped.
type StopReason string

// The stop reasons. Others are failures.
const (
	EndTurn         StopReason = "end_turn"
	StopToolUse     StopReason = "tool_use"
	StopMaxTokens   StopReason = "max_tokens"
	StopSequence    StopReason = "stop_sequence"
	StopGuardrail   StopReason = "guardrail_intervened"
	StopFiltered    StopReason = "content_filtered"
	StopContextFull StopReason = "model_context_window_exceeded"
)

// Usage counts tokens, and what they cost. InputTokens excludes those read from or written to a cache.
type Usage struct {
	InputTokens      int `json:"inputTokens"`
	OutputTokens     int `json:"outputTokens"`
	CacheReadTokens  int `json:"cacheReadTokens"`
	CacheWriteTokens int `json:"cacheWriteTokens"`

	Cost   int64 `json:"-"` // billionths of a US dollar
	Priced bool  `json:"-"` // Cost is that of all of it; false where the price of some is not known
}

// CostUSD is the cost in US dollars; nil where it is not known, which is not the same as zero.
func (u Usage) CostUSD() *float64 {
	if !u.Priced {
		return nil
	}
	return new(float64(u.Cost) / 1e9)
}

// Add gives the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Cost: u.Cost + v.Cost, Priced: u.Priced && v.Priced || u == Usage{} && v.Priced || v == Usage{} && u.Priced,

		InputTokens: add(u.InputTokens, v.InputTokens), OutputTokens: add(u.OutputTokens, v.OutputTokens),
		CacheReadTokens: add(u.CacheReadTokens, v.CacheReadTokens), CacheWriteTokens: add(u.CacheWriteTokens, v.CacheWriteTokens),
	}
}

// add never overflows: a service that reports nonsense must not turn a sum negative.
func add(a, b int) int {
	if b > 0 && a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Request is one call of a model.
type Request struct {
	ModelID     string // empty: the model's own
	System      string
	Messages    []Message
	Tools       []ToolSpec
	ToolChoice  ToolChoice
	AnswerTool  string   // the one of Tools whose input is the answer; a service that can hold its text to a schema may do that instead
	MaxTokens   int      // 0: the model's default
	Temperature *float64 // nil: the model's default
}

// ToolSpec describes a tool to the model. Schema is a JSON schema object.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// ToolChoice says whether the model must call a tool. The zero value leaves it to the model.
type ToolChoice struct {
	Any  bool   // some tool
	Name string // this tool
}

// Reply is the whole answer of one call.
type Reply struct {
	Message Message
	Stop    StopReason
	Usage   Usage
}

// Event is one piece of a streamed reply. Block numbers content blocks from 0 within the reply.
type Event interface{ event() }

type (
	// TextDelta is a piece of text.
	TextDelta struct {
		Block int
		Text  string
	}
	// ReasoningDelta is a piece of reasoning; Signature and Redacted come as whole values or in pieces to be joined.
	ReasoningDelta struct {
		Block     int
		Text      string
		Signature string
		Redacted  []byte
	}
	// ToolStart begins a tool call.
	ToolStart struct {
		Block    int
		ID, Name string
	}
	// ToolInput is a piece of the JSON text of a call's input.
	ToolInput struct {
		Block int
		JSON  string
	}
	// BlockStop ends a content block.
	BlockStop struct{ Block int }
	// Stop ends the message. A stream without it is a failure.
	Stop struct{ Reason StopReason }
	// UsageReport comes after Stop.
	UsageReport struct{ Usage Usage }
	// Reset voids what the reply has shown so far: another attempt, with this number, begins it anew. A model never yields it;
	// streams of a whole turn do.
	Reset struct{ Attempt int }
)

func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (ToolStart) event()      {}
func (ToolInput) event()      {}
func (BlockStop) event()      {}
func (Stop) event()           {}
func (UsageReport) event()    {}
func (Reset) event()          {}
