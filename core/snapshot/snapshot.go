// Package snapshot keeps a conversation's history as segments that are only ever appended: each holds the messages
// said since the one it names as its base. A reader walks from the tip back to the last full segment or to the
// beginning; segments off that chain (written by an owner who lost its lease) count for nothing. The package
// assembles, repairs, trims and compacts histories, and reads and writes the full snapshot of the TypeScript package. It
// stores nothing and knows no clock: times, random bytes and rows come in as arguments.
package snapshot

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// Segment is one append to a history. ID sorts after Base (see NextID); Base is empty for the first. A Full segment is
// a checkpoint: it replaces all before it, the state too. State is the agent's state as JSON, byte for byte; empty: as
// it was.
type Segment struct {
	ID       string          `json:"id"`
	Base     string          `json:"base,omitempty"`
	Full     bool            `json:"full,omitempty"`
	Messages []model.Message `json:"messages"`
	State    json.RawMessage `json:"state,omitempty"`
}

// History is a conversation as it stands at Tip, the id of its newest segment ("" when nothing was said). Messages are
// as they were stored: neighbours may have the same role (see Repair). State is empty if no segment has one. Bytes is
// about the size of the messages and the state as JSON, Segments the number of segments read, First the id of the oldest of them.
type History struct {
	Messages []model.Message
	State    json.RawMessage
	Tip      string
	First    string
	Bytes    int
	Segments int
}

// Assemble gives the history that ends in tip, from segments in any order, with or without others between them. An
// empty tip is an empty history. Faults: Internal if a segment of the chain is missing or the chain names itself.
func Assemble(segments []Segment, tip string) (History, error) {
	found, err := chain(segments, tip)
	if err != nil {
		return History{}, err
	}
	h := History{Tip: tip, Segments: len(found)}
	for _, s := range found {
		h.append(s)
	}
	return h, nil
}

// Append gives the history with one more segment, without reading it again. Faults: Conflict if s is not based on h.
func (h History) Append(s Segment) (History, error) {
	if s.Full {
		h = History{Segments: h.Segments}
	} else if s.Base != h.Tip {
		return History{}, fault.New(fault.Conflict, "segment %s is based on %q, the history ends in %q", s.ID, s.Base, h.Tip)
	}
	h.Messages = slices.Clip(h.Messages) // an append must not write into another history's memory
	h.append(s)
	h.Tip = s.ID
	h.Segments++
	return h, nil
}

func (h *History) append(s Segment) {
	if h.First == "" {
		h.First = s.ID
	}
	h.Messages = append(h.Messages, s.Messages...)
	h.Bytes += Size(s.Messages...)
	if len(s.State) > 0 {
		h.Bytes += len(s.State) - len(h.State)
		h.State = s.State
	}
}

// chain gives the segments from the last full one or the first to tip.
func chain(segments []Segment, tip string) ([]Segment, error) {
	byID := make(map[string]Segment, len(segments))
	for _, s := range segments {
		byID[s.ID] = s
	}
	var found []Segment
	for id := tip; id != ""; {
		s, ok := byID[id]
		if !ok {
			return nil, fault.New(fault.Internal, "history up to %s: segment %s is missing", tip, id)
		}
		found = append(found, s)
		if len(found) > len(byID) {
			return nil, fault.New(fault.Internal, "history up to %s: segment %s is its own base", tip, id)
		}
		if s.Full {
			break
		}
		id = s.Base
	}
	slices.Reverse(found)
	return found, nil
}

// Encode gives the JSON of a segment, as it is stored. Decode reads it; numbers keep all their digits, empty stays
// empty, unknown blocks stay as they are. Faults of both: Internal.
func Encode(s Segment) ([]byte, error) {
	if s.Messages == nil {
		s.Messages = []model.Message{}
	}
	data, err := encode(s)
	return data, fault.Wrap(fault.Internal, err, "encode segment %s", s.ID)
}

// Decode reads what Encode wrote.
func Decode(data []byte) (Segment, error) {
	var s Segment
	if err := json.Unmarshal(data, &s); err != nil {
		return Segment{}, fault.Wrap(fault.Internal, err, "decode a segment of %d bytes", len(data))
	}
	return s, nil
}

// encode is json.Marshal without HTML escapes, which would make stored text larger.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Repair makes the messages of a restored history sound, as model.Repair describes it. When changed, the caller saves
// fixed once as a full segment; the next restore then changes nothing. The tools of unanswered calls are not run
// again: they get an error result.
func Repair(messages []model.Message) (fixed []model.Message, changed bool) {
	return model.Repair(messages)
}
