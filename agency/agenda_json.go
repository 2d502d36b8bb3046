package agency

import (
	"encoding/json"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// schemaVersion is that of agenda and commitment documents.
const schemaVersion = 1

// agendaWire is an agenda as it is stored.
type agendaWire[N any] struct {
	SchemaVersion int               `json:"schemaVersion"`
	Closed        bool              `json:"closed"`
	ObservedAt    *contract.Instant `json:"observedAt"`
	Epoch         *string           `json:"epoch"`
	Goals         []Goal[N]         `json:"goals"`
}

func (a Agenda[N]) wire() agendaWire[N] {
	w := agendaWire[N]{SchemaVersion: schemaVersion, Closed: a.Closed, Epoch: a.Epoch, Goals: a.Goals}
	if a.ObservedAt != "" {
		w.ObservedAt = &a.ObservedAt
	}
	if w.Goals == nil {
		w.Goals = []Goal[N]{}
	}
	return w
}

// MarshalJSON writes the document; what is as it was read keeps its bytes.
func (a Agenda[N]) MarshalJSON() ([]byte, error) {
	var was Agenda[N]
	if a.read != nil {
		if err := was.UnmarshalJSON(a.read); err != nil {
			return nil, err
		}
	}
	return encodeKept(a.read, was.wire(), a.wire())
}

// UnmarshalJSON reads the document; null is the empty agenda.
func (a *Agenda[N]) UnmarshalJSON(data []byte) error {
	var w agendaWire[N]
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*a = Agenda[N]{Closed: w.Closed, Epoch: w.Epoch, Goals: w.Goals, read: copyRead(data)}
	if w.ObservedAt != nil {
		a.ObservedAt = *w.ObservedAt
	}
	return nil
}

// copyRead copies what was read, unless it is null.
func copyRead(data []byte) json.RawMessage {
	if string(data) == "null" {
		return nil
	}
	return append(json.RawMessage(nil), data...)
}

// goalWire is a goal without its methods.
type goalWire[N any] Goal[N]

// readGoal reads a goal; one whose data can no longer be read as an N has none, and says why.
func readGoal[N any](data []byte) (w goalWire[N], err error) {
	if err = json.Unmarshal(data, &w); err == nil {
		return w, nil
	}
	var plain goalWire[json.RawMessage]
	if json.Unmarshal(data, &plain) != nil {
		return w, err
	}
	return goalWire[N]{
		ID: plain.ID, Kind: plain.Kind, Status: plain.Status, CreatedAt: plain.CreatedAt, UpdatedAt: plain.UpdatedAt, SourceTaskID: plain.SourceTaskID,
		Epoch: plain.Epoch, unreadable: err,
	}, nil
}

// MarshalJSON writes the goal; what is as it was read keeps its bytes.
func (g Goal[N]) MarshalJSON() ([]byte, error) {
	var was goalWire[N]
	if g.read != nil {
		var err error
		if was, err = readGoal[N](g.read); err != nil {
			return nil, err
		}
	}
	return encodeKept(g.read, was, goalWire[N](g))
}

// UnmarshalJSON reads the goal.
func (g *Goal[N]) UnmarshalJSON(data []byte) error {
	w, err := readGoal[N](data)
	if err != nil {
		return err
	}
	*g = Goal[N](w)
	g.read = copyRead(data)
	return nil
}
