package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// Content turns what a tool returned into the parts of a tool result: a string becomes text, a struct or map (whatever
// writes itself as a JSON object) a JSON part, other JSON its text; parts stay what they are. The result is never empty and
// no text in it is blank or broken UTF-8. A value without a JSON form is fault.Internal.
func Content(output any) ([]model.ResultPart, error) {
	switch v := output.(type) {
	case nil:
		return text(""), nil
	case string:
		return text(v), nil
	case []byte:
		return fromBytes(v), nil
	case json.RawMessage:
		return fromJSON(v)
	case model.ResultPart:
		return visible([]model.ResultPart{v}), nil
	case []model.ResultPart:
		return visible(v), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(output); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "write the tool's result as JSON")
	}
	return fromJSON(buf.Bytes())
}

// fromJSON makes a part of one JSON value.
func fromJSON(raw []byte) ([]model.ResultPart, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case !json.Valid(raw):
		return nil, fault.New(fault.Internal, "the tool's result is not valid JSON")
	case raw[0] == '{':
		return []model.ResultPart{{JSON: bytes.ToValidUTF8(raw, []byte("\uFFFD"))}}, nil
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "read the tool's result")
		}
		return text(s), nil
	}
	return text(string(raw)), nil
}

func fromBytes(data []byte) []model.ResultPart {
	if utf8.Valid(data) {
		return text(string(data))
	}
	return text(fmt.Sprintf("[%d bytes of binary data left out]", len(data)))
}

// visible gives parts that a model service accepts.
func visible(parts []model.ResultPart) []model.ResultPart {
	if len(parts) == 0 {
		return text("")
	}
	out := make([]model.ResultPart, len(parts))
	for i, p := range parts {
		if p.JSON == nil && p.Raw == nil {
			p = text(p.Text)[0]
		}
		out[i] = p
	}
	return out
}

// text makes one part that is never blank.
func text(s string) []model.ResultPart {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.TrimSpace(s) == "" {
		s = "(no output)"
	}
	return []model.ResultPart{{Text: s}}
}
