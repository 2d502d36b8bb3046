package dynamo

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// row is one row's way from old to now; either may be nil.
type row struct {
	table    *table
	old, now value.Item
	key      value.Item
}

// change is what one accepted request did: all of it or nothing is in the journal.
type change struct {
	writes  []row
	request string // the request token, empty: none
	token   token
}

// token remembers a transaction so that its repetition does nothing.
type token struct {
	Hash string
	At   time.Time
}

// record is the journal's form of a change: whole rows, never expressions.
type record struct {
	Rows    []recordRow `json:"rows,omitempty"`
	Request string      `json:"request,omitempty"`
	Hash    string      `json:"hash,omitempty"`
	At      time.Time   `json:"at,omitzero"`
}

type recordRow struct {
	Table  string     `json:"t"`
	Put    value.Item `json:"p,omitempty"`
	Delete value.Item `json:"d,omitempty"`
}

// commit applies the change and appends it to the journal. The caller holds the lock, and waits for the position after
// giving it up.
func (f *Front) commit(c change) int64 {
	rec := record{Request: c.request, Hash: c.token.Hash, At: c.token.At}
	for _, w := range c.writes {
		w.table.set(w.old, w.now)
		switch {
		case w.now != nil:
			rec.Rows = append(rec.Rows, recordRow{Table: w.table.spec.Name, Put: w.now})
		case w.old != nil:
			rec.Rows = append(rec.Rows, recordRow{Table: w.table.spec.Name, Delete: w.key})
		}
	}
	if c.request != "" {
		f.tokens[c.request] = c.token
	}
	if f.journal == nil || (len(rec.Rows) == 0 && rec.Request == "") {
		return f.journal.Position()
	}
	b, err := json.Marshal(rec)
	if err != nil {
		panic(fmt.Sprintf("dynamo: a row that was read from JSON cannot be written as JSON: %v", err))
	}
	position := f.journal.Append(b)
	if f.journal.Large() {
		f.compact()
	}
	return position
}

// compact rewrites the journal as the rows that there are. A failure leaves the journal as it was.
func (f *Front) compact() {
	if err := f.journal.Compact(f.emitState); err != nil {
		f.cfg.Log.Error("dynamodb journal stays as it is", "error", err)
	}
}

func (f *Front) emitState(emit func([]byte) error) error {
	one := func(rec record) error {
		b, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		return emit(b)
	}
	for name, t := range f.tables {
		for _, part := range t.rows.parts {
			for _, it := range part {
				if err := one(record{Rows: []recordRow{{Table: name, Put: it}}}); err != nil {
					return err
				}
			}
		}
	}
	if len(f.orphans) > 0 {
		if err := one(record{Rows: f.orphans}); err != nil {
			return err
		}
	}
	for request, t := range f.tokens {
		if err := one(record{Request: request, Hash: t.Hash, At: t.At}); err != nil {
			return err
		}
	}
	return nil
}

func (f *Front) replay(b []byte) error {
	var rec record
	if err := json.Unmarshal(b, &rec); err != nil {
		return fmt.Errorf("replay tables: %w", err)
	}
	for _, r := range rec.Rows {
		t, ok := f.tables[r.Table]
		if !ok { // the template has dropped it: kept, so that it comes back with the template
			f.orphans = append(f.orphans, r)
			continue
		}
		key := r.Delete
		if r.Put != nil {
			if err := t.checkItem(r.Put); err != nil {
				return fmt.Errorf("replay table %s: a row does not fit the template's keys: %w", r.Table, err)
			}
			key = r.Put.Pick(t.keyNames()...)
		}
		t.set(t.get(key), r.Put)
	}
	if rec.Request != "" {
		f.tokens[rec.Request] = token{rec.Hash, rec.At}
	}
	return nil
}
