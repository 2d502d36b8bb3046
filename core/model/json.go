package model

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MarshalJSON writes role and content first, then the extra fields.
func (m Message) MarshalJSON() ([]byte, error) {
	content := m.Content
	if content == nil {
		content = []Block{}
	}
	fields := make(map[string]any, len(m.Extra)+2)
	for k, v := range m.Extra {
		fields[k] = v
	}
	fields["role"], fields["content"] = m.Role, content
	return marshal(fields)
}

// UnmarshalJSON keeps unknown fields in Extra.
func (m *Message) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*m = Message{}
	if err := json.Unmarshal(fields["role"], &m.Role); err != nil {
		return fmt.Errorf("message role: %w", err)
	}
	if raw, ok := fields["content"]; ok {
		if err := json.Unmarshal(raw, &m.Content); err != nil {
			return fmt.Errorf("message content: %w", err)
		}
	}
	delete(fields, "role")
	delete(fields, "content")
	if len(fields) > 0 {
		m.Extra = fields
	}
	return nil
}

type reasoningWire struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  []byte `json:"redactedContent,omitempty"`
}

// MarshalJSON writes the one field that is set.
func (b Block) MarshalJSON() ([]byte, error) {
	switch {
	case b.Raw != nil:
		return b.Raw, nil
	case b.ToolUse != nil:
		return marshal(map[string]any{"toolUse": b.ToolUse})
	case b.ToolResult != nil:
		return marshal(map[string]any{"toolResult": b.ToolResult})
	case b.Reasoning != nil:
		return marshal(map[string]any{"reasoning": reasoningWire(*b.Reasoning)})
	case b.CachePoint:
		return []byte(`{"cachePoint":{"cacheType":"default"}}`), nil
	}
	return marshal(map[string]any{"text": b.Text})
}

// UnmarshalJSON reads every known kind of block; one it does not know stays in Raw, byte for byte, so that it is never
// lost on the way through the store.
func (b *Block) UnmarshalJSON(data []byte) error {
	*b = Block{}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("block: %w", err)
	}
	for name, raw := range fields {
		switch name {
		case "text":
			return json.Unmarshal(raw, &b.Text)
		case "toolUse":
			b.ToolUse = new(ToolUse)
			return json.Unmarshal(raw, b.ToolUse)
		case "toolResult":
			b.ToolResult = new(ToolResult)
			return json.Unmarshal(raw, b.ToolResult)
		case "reasoning":
			var w reasoningWire
			err := json.Unmarshal(raw, &w)
			b.Reasoning = &Reasoning{Text: w.Text, Signature: w.Signature, Redacted: w.Redacted}
			return err
		case "cachePoint":
			b.CachePoint = true
			return nil
		}
	}
	b.Raw = bytes.Clone(data)
	return nil
}

// MarshalJSON writes the one field that is set.
func (p ResultPart) MarshalJSON() ([]byte, error) {
	switch {
	case p.Raw != nil:
		return p.Raw, nil
	case p.JSON != nil:
		return marshal(map[string]any{"json": p.JSON})
	}
	return marshal(map[string]any{"text": p.Text})
}

// UnmarshalJSON reads text and json parts; another kind stays in Raw.
func (p *ResultPart) UnmarshalJSON(data []byte) error {
	*p = ResultPart{}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("tool result part: %w", err)
	}
	if raw, ok := fields["text"]; ok {
		return json.Unmarshal(raw, &p.Text)
	}
	if raw, ok := fields["json"]; ok {
		p.JSON = bytes.Clone(raw)
		return nil
	}
	p.Raw = bytes.Clone(data)
	return nil
}

// marshal is json.Marshal without HTML escapes, so that stored text keeps its size.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
