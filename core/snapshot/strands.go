package snapshot

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// strandsVersion is the schema version of the snapshots of the TypeScript package; another major version is refused.
const strandsVersion = "1.0"

// Strands is a full snapshot as the TypeScript package stores it. Fields of its messages that are not ours, as
// trackingId and metadata, are in each message's Extra. What belongs to one run of its program (model state,
// interrupts) is read over and written as "none".
type Strands struct {
	Messages     []model.Message
	State        json.RawMessage // a JSON object; empty: {}
	SystemPrompt string          // text blocks are joined
	CreatedAt    time.Time       // written in UTC, to the millisecond
	AppData      json.RawMessage // a JSON object; empty: {}
}

// strandsWire is the snapshot's JSON.
type strandsWire struct {
	Scope         string          `json:"scope"`
	SchemaVersion string          `json:"schemaVersion"`
	CreatedAt     string          `json:"createdAt"`
	Data          strandsData     `json:"data"`
	AppData       json.RawMessage `json:"appData,omitempty"`
}

type strandsData struct {
	Messages     []model.Message `json:"messages"`
	State        json.RawMessage `json:"state,omitempty"`
	SystemPrompt json.RawMessage `json:"systemPrompt,omitempty"`
	ModelState   json.RawMessage `json:"modelState,omitempty"`
	Interrupts   json.RawMessage `json:"interrupts,omitempty"`
}

// DecodeStrands reads a snapshot of the TypeScript package. Unknown fields are ignored, missing ones empty. Faults:
// Internal if it is not such a snapshot, or of another major version.
func DecodeStrands(data []byte) (Strands, error) {
	var w strandsWire
	if err := json.Unmarshal(data, &w); err != nil {
		return Strands{}, fault.Wrap(fault.Internal, err, "decode a full snapshot of %d bytes", len(data))
	}
	if major, _, _ := strings.Cut(w.SchemaVersion, "."); major != "1" && w.SchemaVersion != "" {
		return Strands{}, fault.New(fault.Internal, "decode a full snapshot: version %q, want %q", w.SchemaVersion, strandsVersion)
	}
	s := Strands{
		Messages: w.Data.Messages, State: some(w.Data.State),
		SystemPrompt: promptText(w.Data.SystemPrompt), AppData: some(w.AppData),
	}
	s.CreatedAt, _ = time.Parse(time.RFC3339, w.CreatedAt) // unreadable: the zero time
	return s, nil
}

// some is raw, or nothing for null.
func some(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// promptText reads a system prompt, which is text or a list of blocks.
func promptText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []model.Block
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	return model.Message{Content: blocks}.PlainText()
}

// Segment gives the snapshot as the full segment id, from which a history goes on.
func (s Strands) Segment(id string) Segment {
	return Segment{ID: id, Full: true, Messages: s.Messages, State: s.State}
}

// Encode writes the snapshot's JSON. Its messages are a sound history (see Repair), as the other side sends them as
// they are. Faults: Invalid if State or AppData is not a JSON object. Whether the result fits into an item is for the
// store to judge.
func (s Strands) Encode() ([]byte, error) {
	state, err := object("state", s.State)
	if err != nil {
		return nil, err
	}
	appData, err := object("appData", s.AppData)
	if err != nil {
		return nil, err
	}
	prompt, err := encode(s.SystemPrompt)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode a full snapshot: system prompt")
	}
	messages, _ := Repair(s.Messages)
	data, err := encode(strandsWire{
		Scope: "agent", SchemaVersion: strandsVersion,
		CreatedAt: s.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"), AppData: appData,
		Data: strandsData{
			Messages: messages, State: state, SystemPrompt: prompt,
			ModelState: json.RawMessage(`{}`), Interrupts: json.RawMessage(`{"activated":false,"interrupts":{}}`),
		},
	})
	return data, fault.Wrap(fault.Internal, err, "encode a full snapshot")
}

// object gives raw, {} if it is empty.
func object(name string, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return json.RawMessage(`{}`), nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, fault.New(fault.Invalid, "encode a full snapshot: %s is no JSON object", name)
	}
	return raw, nil
}
