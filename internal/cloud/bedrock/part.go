package bedrock

import (
	"encoding/json"
	"time"
)

// Part is one piece of a reply.
type Part interface{ part() }

type (
	// Text is a piece of text.
	Text string
	// Reasoning is a piece of the model's thinking: text, or the signature that ends it, or opaque bytes.
	Reasoning struct {
		Text, Signature string
		Redacted        []byte
	}
	// ToolCall begins a call of a tool. Its input follows as ToolInput; none means an empty object.
	ToolCall struct{ ID, Name string }
	// ToolInput is a piece of the JSON text of the call's input.
	ToolInput string
	// Stop ends the message with its reason.
	Stop string
	// Usage reports tokens instead of the server's rough count.
	Usage struct {
		Input, Output, CacheRead, CacheWrite int
	}
	// Raw is an event of any type with any JSON payload, in a stream only: what the future may bring.
	Raw struct {
		Event string
		JSON  json.RawMessage
	}
	// Hangup ends the answer with nothing more: the stream just ends, or with Reset the connection breaks.
	Hangup struct{ Reset bool }
	// Wait is a pause of a script before its next part.
	Wait time.Duration
)

func (Text) part()      {}
func (Reasoning) part() {}
func (ToolCall) part()  {}
func (ToolInput) part() {}
func (Stop) part()      {}
func (Usage) part()     {}
func (Raw) part()       {}
func (Hangup) part()    {}
func (Wait) part()      {}
func (*Error) part()    {}

// tally keeps what the server must know at the end of a reply.
type tally struct {
	chars, calls int
	stop         string
	usage        *Usage
}

func (t *tally) add(p Part) {
	switch p := p.(type) {
	case Text:
		t.chars += len(p)
	case ToolInput:
		t.chars += len(p)
	case Reasoning:
		t.chars += len(p.Text)
	case ToolCall:
		t.chars, t.calls = t.chars+len(p.Name), t.calls+1
	case Stop:
		t.stop = string(p)
	case Usage:
		t.usage = &p
	}
}

func (t *tally) reason() string {
	switch {
	case t.stop != "":
		return t.stop
	case t.calls > 0:
		return "tool_use"
	}
	return "end_turn"
}

// tokens is the reported usage, or about four bytes a token, with what c says of the input.
func (t *tally) tokens(req Request, c *cache) Usage {
	if t.usage != nil {
		return *t.usage
	}
	u := Usage{Output: (t.chars + 3) / 4}
	u.Input, u.CacheRead, u.CacheWrite = c.split(req, (len(req.Body)+3)/4, time.Now())
	return u
}

func (u Usage) wire() map[string]int {
	fields := map[string]int{"inputTokens": u.Input, "outputTokens": u.Output, "totalTokens": u.Input + u.Output + u.CacheRead + u.CacheWrite}
	if u.CacheRead > 0 || u.CacheWrite > 0 {
		fields["cacheReadInputTokens"], fields["cacheWriteInputTokens"] = u.CacheRead, u.CacheWrite
	}
	return fields
}
