package agency

import "encoding/json"

// bookWire is a book as it is stored.
type bookWire[I any] struct {
	SchemaVersion int             `json:"schemaVersion"`
	Commitments   []Commitment[I] `json:"commitments"`
}

func (b CommitmentBook[I]) wire() bookWire[I] {
	w := bookWire[I]{SchemaVersion: schemaVersion, Commitments: b.Commitments}
	if w.Commitments == nil {
		w.Commitments = []Commitment[I]{}
	}
	return w
}

// MarshalJSON writes the document; what is as it was read keeps its bytes.
func (b CommitmentBook[I]) MarshalJSON() ([]byte, error) {
	var was CommitmentBook[I]
	if b.read != nil {
		if err := was.UnmarshalJSON(b.read); err != nil {
			return nil, err
		}
	}
	return encodeKept(b.read, was.wire(), b.wire())
}

// UnmarshalJSON reads the document; null is the empty book.
func (b *CommitmentBook[I]) UnmarshalJSON(data []byte) error {
	var w bookWire[I]
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*b = CommitmentBook[I]{Commitments: w.Commitments, read: copyRead(data)}
	return nil
}

// commitmentWire is a commitment without its methods.
type commitmentWire[I any] Commitment[I]

// readCommitment reads a commitment; one whose intent can no longer be read as an I has none, and says why.
func readCommitment[I any](data []byte) (w commitmentWire[I], err error) {
	if err = json.Unmarshal(data, &w); err == nil {
		return w, nil
	}
	var plain commitmentWire[json.RawMessage]
	if json.Unmarshal(data, &plain) != nil {
		return w, err
	}
	return commitmentWire[I]{
		ID: plain.ID, Kind: plain.Kind, Status: plain.Status, CreatedAt: plain.CreatedAt, UpdatedAt: plain.UpdatedAt, ExpiresAt: plain.ExpiresAt,
		NextReviewAt: plain.NextReviewAt, Counterpart: plain.Counterpart, Source: plain.Source, AgendaID: plain.AgendaID, ChildTaskIDs: plain.ChildTaskIDs,
		ExternalRef: plain.ExternalRef, Decision: plain.Decision, Reconsiderations: plain.Reconsiderations, TaskDueAt: plain.TaskDueAt, unreadable: err,
	}, nil
}

// MarshalJSON writes the commitment; what is as it was read keeps its bytes.
func (c Commitment[I]) MarshalJSON() ([]byte, error) {
	var was commitmentWire[I]
	if c.read != nil {
		var err error
		if was, err = readCommitment[I](c.read); err != nil {
			return nil, err
		}
	}
	return encodeKept(c.read, was, commitmentWire[I](c))
}

// UnmarshalJSON reads the commitment.
func (c *Commitment[I]) UnmarshalJSON(data []byte) error {
	w, err := readCommitment[I](data)
	if err != nil {
		return err
	}
	*c = Commitment[I](w)
	c.read = copyRead(data)
	return nil
}
