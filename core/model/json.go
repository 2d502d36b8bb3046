package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// MarshalJSON writes role and content first, then the extra fields by name.
func (m Message) MarshalJSON() ([]byte, error) {
	content := m.Content
	if content == nil {
		content = []Block{}
	}
	head, err := marshal(struct {
		Role    Role    `json:"role"`
		Content []Block `json:"content"`
	}{m.Role, content})
	if err != nil {
		return nil, err
	}
	extra := maps.Clone(m.Extra)
	delete(extra, "role")
	delete(extra, "content")
	if len(extra) == 0 {
		return head, nil
	}
	tail, err := marshal(extra)
	if err != nil {
		return nil, err
	}
	head[len(head)-1] = ','
	return append(head, tail[1:]...), nil
}

// UnmarshalJSON keeps unknown fields in Extra.
func (m *Message) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*m = Message{}
	if raw, ok := fields["role"]; ok {
		if err := json.Unmarshal(raw, &m.Role); err != nil {
			return fmt.Errorf("message role: %w", err)
		}
	}
	if raw, ok := fields["content"]; ok {
		if err := m.unmarshalContent(raw); err != nil {
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

// unmarshalContent reads a list of blocks; plain text is a list of one.
func (m *Message) unmarshalContent(raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		m.Content = []Block{{Text: text}}
		return nil
	}
	return json.Unmarshal(raw, &m.Content)
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

// UnmarshalJSON reads every known kind of block. One it does not know, or whose value is not of the known form, stays
// in Raw, byte for byte, so that it is never lost on the way through the store.
func (b *Block) UnmarshalJSON(data []byte) error {
	*b = Block{}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) == nil {
		for _, kind := range []string{"toolUse", "toolResult", "reasoning", "cachePoint", "text"} {
			if raw, ok := fields[kind]; ok && b.unmarshalKind(kind, raw) {
				return nil
			}
		}
	}
	*b = Block{Raw: bytes.Clone(data)}
	return nil
}

// unmarshalKind reads the value of a block's one field, false if it is of no known kind and form.
func (b *Block) unmarshalKind(kind string, raw json.RawMessage) bool {
	*b = Block{}
	if string(raw) == "null" {
		return false
	}
	switch kind {
	case "toolUse":
		b.ToolUse = new(ToolUse)
		return json.Unmarshal(raw, b.ToolUse) == nil
	case "toolResult":
		b.ToolResult = new(ToolResult)
		return json.Unmarshal(raw, b.ToolResult) == nil
	case "reasoning":
		var w reasoningWire
		err := json.Unmarshal(raw, &w)
		b.Reasoning = &Reasoning{Text: w.Text, Signature: w.Signature, Redacted: w.Redacted}
		return err == nil
	case "cachePoint":
		b.CachePoint = true
		return true
	}
	return json.Unmarshal(raw, &b.Text) == nil
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

// UnmarshalJSON reads text and json parts; another kind or form stays in Raw.
func (p *ResultPart) UnmarshalJSON(data []byte) error {
	*p = ResultPart{}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) == nil {
		if raw, ok := fields["json"]; ok {
			p.JSON = bytes.Clone(raw)
			return nil
		}
		if raw, ok := fields["text"]; ok && string(raw) != "null" && json.Unmarshal(raw, &p.Text) == nil {
			return nil
		}
	}
	*p = ResultPart{Raw: bytes.Clone(data)}
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
