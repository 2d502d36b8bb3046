package bedrock

import (
	"encoding/json"
	"fmt"
)

// Request is one Converse or ConverseStream request as it came over the wire.
type Request struct {
	ModelID string `json:"-"`
	Stream  bool   `json:"-"`
	Body    []byte `json:"-"` // byte for byte

	Messages  []Message       `json:"messages"`
	System    []Block         `json:"system"`
	Inference Inference       `json:"inferenceConfig"`
	Tools     *ToolConfig     `json:"toolConfig"`
	Output    *OutputConfig   `json:"outputConfig"`
	Guardrail Guardrail       `json:"guardrailConfig"`
	Extra     json.RawMessage `json:"additionalModelRequestFields"`
}

// Guardrail is the filter that a request runs under; without an ID there is none.
type Guardrail struct {
	ID      string `json:"guardrailIdentifier"`
	Version string `json:"guardrailVersion"`
}

// Inference holds the sampling limits. A nil field was not sent.
type Inference struct {
	MaxTokens     *int     `json:"maxTokens"`
	Temperature   *float64 `json:"temperature"`
	TopP          *float64 `json:"topP"`
	StopSequences []string `json:"stopSequences"`
}

// Message is one message of the conversation.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// Block is one content block. Kind is the name of its only member ("text", "toolUse", ...); it is empty if there was
// not exactly one, which Check refuses. Kinds without a field of their own here are accepted unseen.
type Block struct {
	Kind       string
	Text       string
	ToolUse    *ToolUse
	ToolResult *ToolResult
	Reasoning  *ReasoningContent
	Media      *Media // document, image or video
}

// ToolUse is a call that the model asked for earlier.
type ToolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// ToolResult answers one call. Status is "success", "error" or "" (success).
type ToolResult struct {
	ID      string       `json:"toolUseId"`
	Status  string       `json:"status"`
	Content []ResultPart `json:"content"`
}

// ResultPart is one part of a tool result.
type ResultPart struct {
	Kind string
	Text string
	JSON json.RawMessage
}

// ReasoningContent is reasoning that is replayed: signed text, or opaque bytes.
type ReasoningContent struct {
	Text     *ReasoningText `json:"reasoningText"`
	Redacted []byte         `json:"redactedContent"`
}

// ReasoningText is the readable form of reasoning.
type ReasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// Media is a document, an image or a video.
type Media struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Source struct {
		Bytes []byte `json:"bytes"`
	} `json:"source"`
}

// ToolConfig lists what the model may call.
type ToolConfig struct {
	Tools  []Tool      `json:"tools"`
	Choice *ToolChoice `json:"toolChoice"`
}

// Tool is one entry of the list: a specification, or (Spec nil) another Kind such as "cachePoint".
type Tool struct {
	Kind string
	Spec *ToolSpec
}

// ToolSpec describes a tool. Schema is the JSON schema of its input.
type ToolSpec struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
	InputSchema struct {
		JSON json.RawMessage `json:"json"`
	} `json:"inputSchema"`
}

// ToolChoice says whether a tool must be called; exactly one field is set.
type ToolChoice struct {
	Auto *struct{} `json:"auto"`
	Any  *struct{} `json:"any"`
	Tool *struct {
		Name string `json:"name"`
	} `json:"tool"`
}

// Specs gives the described tools in order.
func (r Request) Specs() []ToolSpec {
	if r.Tools == nil {
		return nil
	}
	var specs []ToolSpec
	for _, t := range r.Tools.Tools {
		if t.Spec != nil {
			specs = append(specs, *t.Spec)
		}
	}
	return specs
}

// UnmarshalJSON reads a block and remembers which member it had.
func (b *Block) UnmarshalJSON(data []byte) (err error) {
	kind, raw, err := onlyMember(data)
	if err != nil {
		return err
	}
	*b = Block{Kind: kind}
	switch kind {
	case "text":
		err = json.Unmarshal(raw, &b.Text)
	case "toolUse":
		err = json.Unmarshal(raw, &b.ToolUse)
	case "toolResult":
		err = json.Unmarshal(raw, &b.ToolResult)
	case "reasoningContent":
		err = json.Unmarshal(raw, &b.Reasoning)
	case "document", "image", "video":
		err = json.Unmarshal(raw, &b.Media)
	}
	return err
}

// UnmarshalJSON reads one part of a tool result.
func (p *ResultPart) UnmarshalJSON(data []byte) error {
	kind, raw, err := onlyMember(data)
	*p = ResultPart{Kind: kind}
	switch {
	case err != nil:
		return err
	case kind == "text":
		return json.Unmarshal(raw, &p.Text)
	case kind == "json":
		p.JSON = raw
	}
	return nil
}

// UnmarshalJSON reads one entry of the tool list.
func (t *Tool) UnmarshalJSON(data []byte) error {
	kind, raw, err := onlyMember(data)
	*t = Tool{Kind: kind}
	if err == nil && kind == "toolSpec" {
		err = json.Unmarshal(raw, &t.Spec)
	}
	return err
}

// onlyMember gives the name and value of a union's single member, or no name if there is none or more than one.
func onlyMember(data []byte) (string, json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return "", nil, fmt.Errorf("union: %w", err)
	}
	for name, raw := range fields {
		if len(fields) == 1 && string(raw) != "null" {
			return name, raw, nil
		}
	}
	return "", nil, nil
}
