package bedrock

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// whole answers with one JSON document.
func (s *Server) whole(w http.ResponseWriter, r *http.Request, req Request, started time.Time) {
	var m message
	for part, err := range s.model().Respond(r.Context(), req) {
		if _, cut := part.(Hangup); cut {
			panic(http.ErrAbortHandler) // how a handler breaks its connection
		}
		if err != nil {
			s.noteFailure(r.Context(), req, err)
			writeError(w, asError(err))
			return
		}
		m.add(part)
	}
	data, err := json.Marshal(object{
		"output":     object{"message": object{"role": "assistant", "content": m.blocks()}},
		"stopReason": m.tally.reason(),
		"usage":      m.tally.tokens(req, &s.cache).wire(),
		"metrics":    object{"latencyMs": time.Since(started).Milliseconds()},
	})
	if err != nil {
		writeError(w, asError(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // the client may be gone
}

// message gathers parts into content blocks.
type message struct {
	tally tally
	done  []*draft
}

// draft is a block that is being gathered.
type draft struct {
	kind            string
	call            ToolCall
	text, signature strings.Builder
	redacted        []byte
}

func (m *message) add(p Part) {
	m.tally.add(p)
	switch p := p.(type) {
	case Text:
		m.block("text").text.WriteString(string(p))
	case Reasoning:
		b := m.block("reasoning")
		b.text.WriteString(p.Text)
		b.signature.WriteString(p.Signature)
		b.redacted = append(b.redacted, p.Redacted...)
	case ToolCall:
		m.done = append(m.done, &draft{kind: "toolUse", call: p})
	case ToolInput:
		m.block("toolUse").text.WriteString(string(p))
	}
}

// block gives the last block if it is of kind, else a new one.
func (m *message) block(kind string) *draft {
	if n := len(m.done); n == 0 || m.done[n-1].kind != kind {
		m.done = append(m.done, &draft{kind: kind})
	}
	return m.done[len(m.done)-1]
}

func (m *message) blocks() []object {
	blocks := []object{}
	for _, d := range m.done {
		blocks = append(blocks, d.wire())
	}
	return blocks
}

func (d *draft) wire() object {
	switch {
	case d.kind == "text":
		return object{"text": d.text.String()}
	case d.kind == "toolUse":
		return object{"toolUse": object{"toolUseId": d.call.ID, "name": d.call.Name, "input": d.input()}}
	case d.redacted != nil:
		return object{"reasoningContent": object{"redactedContent": d.redacted}}
	}
	return object{"reasoningContent": object{"reasoningText": object{"text": d.text.String(), "signature": d.signature.String()}}}
}

// input is the call's input: the service never sends half an object, so a cut one becomes an empty object.
func (d *draft) input() json.RawMessage {
	if text := d.text.String(); json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage("{}")
}
