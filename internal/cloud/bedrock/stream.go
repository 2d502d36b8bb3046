package bedrock

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// errHangup ends a stream without another word.
var errHangup = errors.New("hang up")

// streamed answers with an event stream. Nothing is written before the first part, so that an error that comes first
// has its HTTP status.
func (s *Server) streamed(w http.ResponseWriter, r *http.Request, req Request, started time.Time) {
	f := &frames{w: w, cache: &s.cache}
	for part, err := range s.model().Respond(r.Context(), req) {
		if err == nil {
			err = f.add(part)
		}
		if err != nil {
			s.noteFailure(r.Context(), req, err)
			f.fail(r.Context(), err)
			return
		}
	}
	f.finish(req, started)
}

// frames turns parts into event-stream frames.
type frames struct {
	w       http.ResponseWriter
	encoder *eventstream.Encoder // nil until the first frame
	tally   tally
	cache   *cache
	index   int    // of the open or the next block
	open    string // kind of the open block, or ""
	ended   bool   // messageStop is out
}

func (f *frames) add(p Part) error {
	f.tally.add(p)
	switch p := p.(type) {
	case Text:
		return f.delta("text", object{"text": p})
	case Reasoning:
		return f.reasoning(p)
	case ToolCall:
		return f.call(p)
	case ToolInput:
		return f.delta("toolUse", object{"toolUse": object{"input": p}})
	case Stop:
		return f.stop(string(p))
	case Raw:
		return f.send("event", p.Event, p.JSON)
	case Hangup:
		return f.hangup(p)
	}
	return nil
}

// object is a JSON object.
type object map[string]any

func (f *frames) delta(kind string, delta object) error {
	if f.open != kind {
		if err := f.close(); err != nil {
			return err
		}
		f.open = kind
	}
	return f.event("contentBlockDelta", object{"contentBlockIndex": f.index, "delta": delta})
}

func (f *frames) reasoning(p Reasoning) error {
	for _, field := range []struct {
		name  string
		value any
		set   bool
	}{{"text", p.Text, p.Text != ""}, {"signature", p.Signature, p.Signature != ""}, {"redactedContent", p.Redacted, p.Redacted != nil}} {
		if !field.set {
			continue
		}
		if err := f.delta("reasoning", object{"reasoningContent": object{field.name: field.value}}); err != nil {
			return err
		}
	}
	return nil
}

func (f *frames) call(p ToolCall) error {
	if err := f.close(); err != nil {
		return err
	}
	f.open = "toolUse"
	return f.event("contentBlockStart", object{"contentBlockIndex": f.index, "start": object{"toolUse": object{"toolUseId": p.ID, "name": p.Name}}})
}

// close ends the open block, if there is one.
func (f *frames) close() error {
	if f.open == "" {
		return nil
	}
	f.open = ""
	err := f.event("contentBlockStop", object{"contentBlockIndex": f.index})
	f.index++
	return err
}

func (f *frames) stop(reason string) error {
	if f.ended {
		return nil
	}
	if err := f.close(); err != nil {
		return err
	}
	f.ended = true
	return f.event("messageStop", object{"stopReason": reason})
}

func (f *frames) finish(req Request, started time.Time) {
	if f.stop(f.tally.reason()) != nil {
		return
	}
	_ = f.event("metadata", object{ // a client that is gone misses nothing
		"usage":   f.tally.tokens(req, f.cache).wire(),
		"metrics": object{"latencyMs": time.Since(started).Milliseconds()},
	})
}

// hangup makes sure that there is a stream to cut, then cuts it.
func (f *frames) hangup(p Hangup) error {
	if err := f.begin(); err != nil {
		return err
	}
	if p.Reset {
		panic(http.ErrAbortHandler) // how a handler breaks its connection
	}
	return errHangup
}

func (f *frames) fail(ctx context.Context, err error) {
	if errors.Is(err, errHangup) || ctx.Err() != nil {
		return
	}
	e := asError(err)
	if f.encoder == nil {
		writeError(f.w, e)
		return
	}
	_ = f.send("exception", e.member(), e.body()) // as above
}

// begin writes the head of the answer and the messageStart event, once.
func (f *frames) begin() error {
	if f.encoder != nil {
		return nil
	}
	f.encoder = eventstream.NewEncoder()
	f.w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	f.w.WriteHeader(http.StatusOK)
	return f.event("messageStart", object{"role": "assistant"})
}

func (f *frames) event(name string, payload object) error {
	data, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	return f.send("event", name, data)
}

// send writes one frame and pushes it out.
func (f *frames) send(kind, name string, payload []byte) error {
	if err := f.begin(); err != nil {
		return err
	}
	msg := eventstream.Message{Payload: payload}
	msg.Headers.Set(":message-type", eventstream.StringValue(kind))
	msg.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
	msg.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	if err := f.encoder.Encode(f.w, msg); err != nil {
		return err
	}
	return http.NewResponseController(f.w).Flush()
}
