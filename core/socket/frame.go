package socket

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

const (
	frameRoom = 512 // bytes of a text frame's JSON beside its text and turn id; the longest numbers need under 300
	maxEscape = 6   // bytes that one byte of a string may need in JSON: \u001f
)

// frame is one encoded message.
type frame struct {
	seq  int64
	body []byte
}

func stream(body contract.StreamEventBody, more ...func(*contract.ServerMessage)) contract.ServerMessage {
	m := contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &body}
	for _, f := range more {
		f(&m)
	}
	return m
}

// split makes one message or several of a piece of an answer that may be longer than a frame; anything else stays as it is. The
// event's index stands on the last.
func split(m contract.ServerMessage) []contract.ServerMessage {
	if m.Event == nil || m.Event.Data == nil {
		return []contract.ServerMessage{m}
	}
	var out []contract.ServerMessage
	offset := int64(0)
	if m.Offset != nil {
		offset = *m.Offset
	}
	for rest := *m.Event.Data; rest != "" || len(out) == 0; {
		var text string
		text, rest = cut(rest, MaxFrameBytes-frameRoom-len(m.TurnID)*maxEscape)
		piece := m
		piece.Event, piece.Offset = &contract.StreamEventBody{Data: &text}, new(offset)
		if rest != "" {
			piece.Index = nil
		}
		out = append(out, piece)
		offset += int64(utf8.RuneCountInString(text))
	}
	return out
}

// encode gives the JSON of m. A message text that does not fit is cut. Faults: Limit when something else is too long.
func encode(m contract.ServerMessage) ([]byte, error) {
	body, err := plainJSON(m)
	if err != nil || len(body) <= MaxFrameBytes {
		return body, err
	}
	text := m.Message
	m.Message = ""
	if body, err = plainJSON(m); err != nil {
		return nil, err
	}
	room := MaxFrameBytes - len(body) - len(`,"message":"..."`)
	if text == "" || room <= 0 {
		return nil, fault.New(fault.Limit, "frame: %d bytes, the limit is %d", len(body), MaxFrameBytes)
	}
	short, _ := cut(text, room)
	m.Message = short + "..."
	return plainJSON(m)
}

// plainJSON is json.Marshal without escapes for HTML, which would triple the size of code.
func plainJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode frame")
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// cut splits s between two code points so that piece needs at most room bytes inside a JSON string, and at least one code
// point is taken.
func cut(s string, room int) (piece, rest string) {
	for i, r := range s {
		if room -= encodedLen(r); room < 0 && i > 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// encodedLen is the most bytes that r needs inside a JSON string.
func encodedLen(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError:
		return maxEscape
	}
	return utf8.RuneLen(r)
}
