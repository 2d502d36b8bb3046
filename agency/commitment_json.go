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

// MarshalJSON writes the commitment; what is as it was read keeps its bytes.
func (c Commitment[I]) MarshalJSON() ([]byte, error) {
	var was commitmentWire[I]
	if c.read != nil {
		if err := json.Unmarshal(c.read, &was); err != nil {
			return nil, err
		}
	}
	return encodeKept(c.read, was, commitmentWire[I](c))
}

// UnmarshalJSON reads the commitment.
func (c *Commitment[I]) UnmarshalJSON(data []byte) error {
	var w commitmentWire[I]
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*c = Commitment[I](w)
	c.read = copyRead(data)
	return nil
}
